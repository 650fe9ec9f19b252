#include "base/random.hpp"

#include "base/portable_math.hpp"

#include <cmath>

namespace zeus {

namespace {

struct Product {
  std::uint32_t high;
  std::uint32_t low;
};

constexpr Product multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

constexpr std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr int rounds = 10;
  constexpr std::uint32_t multiplier_0 = 0xD2511F53;
  constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t key_step_0 = 0x9E3779B9;
  constexpr std::uint32_t key_step_1 = 0xBB67AE85;
  for (int round = 0; round < rounds; ++round) {
    const Product first = multiply(multiplier_0, counter[0]);
    const Product second = multiply(multiplier_1, counter[2]);
    counter = {second.high ^ counter[1] ^ key[0], second.low, first.high ^ counter[3] ^ key[1], first.low};
    key[0] += key_step_0;
    key[1] += key_step_1;
  }
  return counter;
}

Random::Random(std::uint64_t seed, std::uint64_t sequence, std::uint32_t stream)
    : key_{low_word(seed), high_word(seed)}, counter_{0, stream, low_word(sequence), high_word(sequence)} {
}

std::uint64_t Random::bits() {
  if (used_ == 4) {
    block_ = philox_block(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  const std::uint64_t result = (std::uint64_t{block_[used_ + 1]} << 32) | block_[used_];
  used_ += 2;
  return result;
}

double Random::uniform() {
  // 52 bits and a half step: never 0, never 1, symmetric about one half.
  constexpr double step = 1.0 / 4503599627370496.0;
  return (static_cast<double>(bits() >> 12) + 0.5) * step;
}

double Random::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Draws from the incomplete last part of the 64-bit range are thrown away, so that no value is favoured.
  const std::uint64_t excess = (~std::uint64_t{0} % bound + 1) % bound;
  std::uint64_t draw = bits();
  while (draw > ~std::uint64_t{0} - excess) {
    draw = bits();
  }
  return draw % bound;
}

double Random::normal() {
  return portable::normal_quantile(uniform());
}

double Random::normal(double mean, double sigma) {
  return mean + sigma * normal();
}

double Random::exponential() {
  return -portable::log(uniform());
}

double Random::gamma(double shape) {
  // G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000) 363-372.
  if (shape < 1.0) {
    const double boost = portable::pow(uniform(), 1.0 / shape);
    return boost * gamma(shape + 1.0);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) {
      continue;
    }
    const double v = root * root * root;
    if (portable::log(uniform()) < 0.5 * x * x + d - d * v + d * portable::log(v)) {
      return d * v;
    }
  }
}

}  // namespace zeus
