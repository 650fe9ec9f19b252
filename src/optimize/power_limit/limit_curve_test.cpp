#include "optimize/power_limit/limit_curve.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::optimize {

namespace {

using namespace literals;

// A step of a GPU whose clock is the square root of the power above 50 W, free at 240 W, and which works all the time.
double true_time(Watts limit) {
  return std::sqrt(190.0 / (std::min(limit.value(), 240.0) - 50.0));
}

std::vector<records::PowerMeasurement> measured_limits(double scatter, double known_scatter, std::uint64_t seed,
                                                       double (*time_of)(Watts) = true_time) {
  Random draws{seed};
  std::vector<records::PowerMeasurement> limits;
  for (Watts limit = 100_W; limit <= 250_W; limit += 25_W) {
    const Seconds time{time_of(limit) * std::exp(scatter * draws.normal())};
    const Watts power = std::min(limit, 240_W);
    limits.push_back({.setting = {.limit = limit, .clock = {}},
                      .steps = 5,
                      .step_time = time,
                      .step_time_uncertainty = time * (records::normal_95 * known_scatter),
                      .step_energy = {.value = power * time,
                                      .uncertainty = power * time * (records::normal_95 * known_scatter),
                                      .systematic = {}}});
  }
  return limits;
}

bool lies_in(const RelativeChange& stated, double true_change) {
  return std::abs(stated.value - true_change) <= stated.half_width;
}

constexpr std::size_t at_250 = 6;
constexpr std::size_t at_150 = 2;
const double true_change = true_time(150_W) / true_time(250_W) - 1.0;

TEST(LimitCurve, FindsTheChangeInNineOfTenCasesWhetherTheScatterIsKnownOrNot) {
  for (const double scatter : {0.0, 0.01, 0.05, 0.1}) {
    for (const bool known : {false, true}) {
      int right = 0;
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const StepChange change = step_change(measured_limits(scatter, known ? scatter : 0.0, seed), at_250, at_150);
        right += lies_in(change.time, true_change) && lies_in(change.energy, (1.0 + true_change) * 150.0 / 240.0 - 1.0)
                     ? 1
                     : 0;
      }
      EXPECT_GE(right, 54) << "scatter " << scatter << (known ? ", known" : ", not known");
    }
  }
}

TEST(LimitCurve, IsMoreCertainThanTheTwoMeasurementsAlone) {
  constexpr double scatter = 0.05;
  double widths = 0.0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    widths += step_change(measured_limits(scatter, scatter, seed), at_250, at_150).time.half_width / 100.0;
  }
  EXPECT_LT(widths, records::normal_95 * scatter * std::sqrt(2.0) * (1.0 + true_change));
}

// Where limits change nothing, lower ones seem faster as often as slower.
TEST(LimitCurve, SaysThatNothingIsSavedWhereNothingIs) {
  int invented = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<records::PowerMeasurement> limits = measured_limits(0.05, 0.0, seed, [](Watts) { return 1.0; });
    for (records::PowerMeasurement& one : limits) {
      one.step_energy.value = 90_W * one.step_time;
    }
    invented += step_change(limits, at_250, at_150).energy.is_known() ? 1 : 0;
  }
  EXPECT_LE(invented, 4);
}

// A curve that no GPU of the model has: the time falls in a step.
TEST(LimitCurve, FollowsWhatWasMeasuredWhereNoCurveExplainsIt) {
  const auto time_of = [](Watts limit) { return limit < 160_W ? 1.5 : 1.0; };
  const StepChange change = step_change(measured_limits(0.005, 0.005, 1, time_of), at_250, at_150);
  EXPECT_TRUE(lies_in(change.time, 0.5)) << change.time.value << " +- " << change.time.half_width;
}

TEST(LimitCurve, TwoLimitsAreEnoughForAnInterval) {
  std::vector<records::PowerMeasurement> limits = measured_limits(0.0, 0.01, 1);
  const std::vector<records::PowerMeasurement> two{limits[at_150], limits[at_250]};
  const StepChange change = step_change(two, 1, 0);
  EXPECT_TRUE(lies_in(change.time, true_change));
  EXPECT_LT(change.time.half_width, 0.3);
}

}  // namespace
}  // namespace zeus::optimize
