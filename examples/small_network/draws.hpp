// Counter-based random numbers, with only the standard library: draw n of a stream is a pure function of (seed, stream,
// n), so a run is the same with every compiler and on every machine. The mixing function is that of SplitMix64 (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Not for secrets. An object belongs to
// one thread; copies continue independently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace small_network {

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : key_{mix(mix(seed) + golden * (stream + 1))} {}

  std::uint64_t bits() { return mix(key_ + golden * ++count_); }
  // In the open interval (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 12U) + 0.5) * 0x1p-52; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // In [0, bound); off from uniform by less than bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t high = bits() >> 32U;
    return (high * bound) >> 32U;
  }
  // Mean 0, variance 1, nearly normal, within 3.5: the sum of four uniform draws, all from one word.
  float bell() {
    const std::uint64_t word = bits();
    const auto sum =
        static_cast<float>((word & 0xffffU) + (word >> 16U & 0xffffU) + (word >> 32U & 0xffffU) + (word >> 48U));
    constexpr float mean = 4 * 32767.5F;
    constexpr float deviation = 37837.23F;  // of the sum of four whole numbers, each uniform from 0 to 65535
    return (sum - mean) / deviation;
  }

  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

  static constexpr std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31U);
  }

  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

}  // namespace small_network
