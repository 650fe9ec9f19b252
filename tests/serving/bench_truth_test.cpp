// What the figures of a run are worth: served models drawn at random, measured on a virtual clock, against what a
// token and an answer take in the long run.

#include "situation.hpp"
#include "tests/support/population.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace zeus::test {
namespace {

class Coverage {
 public:
  void add(const Energy& energy, double truth) {
    const double off = std::abs(energy.value.value() - truth);
    held_ += off <= energy.uncertainty.value() ? 1 : 0;
    widths_.push_back(energy.uncertainty.value() / energy.value.value());
    offs_.push_back(off / truth);
  }
  [[nodiscard]] double held() const { return static_cast<double>(held_) / static_cast<double>(widths_.size()); }
  [[nodiscard]] double median_width() { return median(widths_); }
  [[nodiscard]] double median_off() { return median(offs_); }

 private:
  static double median(std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }

  std::size_t held_ = 0;
  std::vector<double> widths_;
  std::vector<double> offs_;
};

std::uint64_t benched_population() {
  // The nightly run asks for all of them.
  const char* const wanted = std::getenv("ZEUS_SERVED_MODELS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : drawn<std::uint64_t>(24);
}

TEST(BenchTruth, TheEnergyOfATokenAndOfAnAnswerIsWithinItsInterval) {
  const std::uint64_t all = benched_population();
  Coverage tokens;
  Coverage answers;
  std::uint64_t not_steady = 0;
  for (std::uint64_t number = 0; number < all; ++number) {
    const Situation situation = drawn_situation(number);
    const serving::BenchResult result = ServedMachine{situation}.bench(situation.seed).result;
    if (!result.steady.energy_per_output_token || !result.steady.energy_per_answer) {
      ++not_steady;
      std::printf("%llu: %s\n", static_cast<unsigned long long>(number), result.steady.why_no_energy_per_token.c_str());
      continue;
    }
    const LongRun truth = long_run(situation, 12);
    tokens.add(*result.steady.energy_per_output_token, truth.energy_per_token);
    answers.add(*result.steady.energy_per_answer, truth.energy_per_answer);
  }
  std::printf("of %llu runs, %llu without a steady state\n", static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(not_steady));
  std::printf("per token: held %.3f, median half-width %.4f, median error %.4f\n", tokens.held(), tokens.median_width(),
              tokens.median_off());
  std::printf("per answer: held %.3f, median half-width %.4f, median error %.4f\n", answers.held(),
              answers.median_width(), answers.median_off());
  if (sanitized) {
    return;  // too few to judge
  }
  EXPECT_GE(tokens.held(), 0.93);
  EXPECT_GE(answers.held(), 0.93);
  EXPECT_LE(tokens.median_width(), 0.03);
  EXPECT_LE(answers.median_width(), 0.03);
  EXPECT_LE(not_steady, all / 10);
}

}  // namespace
}  // namespace zeus::test
