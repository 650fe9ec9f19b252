#include "optimize/batch_size/job_spec.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace zeus::optimize {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

JobSpec good() {
  return {.batch_sizes = {64, 16, 32},
          .default_batch_size = 32,
          .power_limits = {200_W, 100_W, 150_W},
          .max_power = 200_W,
          .max_epochs = 50,
          .priors = {}};
}

// The message of `checked` for a good spec with one thing changed; empty if it accepts the spec.
std::string refusal(const std::function<void(JobSpec&)>& change) {
  JobSpec spec = good();
  change(spec);
  try {
    static_cast<void>(checked(spec));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return {};
}

TEST(JobSpec, SortsItsSetsInAscendingOrder) {
  const JobSpec spec = checked(good());
  EXPECT_EQ(spec.batch_sizes, (std::vector{16, 32, 64}));
  EXPECT_EQ(spec.power_limits, (std::vector{100_W, 150_W, 200_W}));
  EXPECT_EQ(spec.arms(), 3U);
  EXPECT_EQ(spec.default_arm(), 1U);
  EXPECT_EQ(spec.arm_of(16), 0U);
  EXPECT_EQ(spec.arm_of(64), 2U);
}

TEST(JobSpec, ANewDeviceReplacesTheMaximumAndTheLimits) {
  JobSpec spec = checked(good());
  spec.move_to({.model = "other", .max_power = 300_W});
  EXPECT_EQ(spec.max_power, 300_W);
  EXPECT_EQ(spec.power_limits, (std::vector{100_W, 150_W, 200_W})) << "the event names none: the same as before";
  spec.move_to({.model = "third", .max_power = 400_W, .power_limits = {250_W, 400_W}});
  EXPECT_EQ(spec.max_power, 400_W);
  EXPECT_EQ(spec.power_limits, (std::vector{250_W, 400_W}));
}

TEST(JobSpec, RefusesInvalidBatchSizes) {
  const auto with = [](std::vector<int> sizes, int default_size) {
    return refusal([&](JobSpec& spec) {
      spec.batch_sizes = sizes;
      spec.default_batch_size = default_size;
    });
  };
  EXPECT_NE(with({}, 1), "");
  EXPECT_NE(with({0, 1}, 1), "");
  EXPECT_NE(with({-1, 1}, 1), "");
  EXPECT_NE(with({4, 2, 4}, 4), "") << "listed twice";
  EXPECT_NE(with({2, 4, 8}, 5), "") << "the default is not among them";
  EXPECT_EQ(with({1}, 1), "");
  std::vector<int> many(most_batch_sizes);
  std::iota(many.begin(), many.end(), 1);
  EXPECT_EQ(with(many, 1), "");
  many.push_back(1000);
  EXPECT_NE(with(many, 1), "");
}

TEST(JobSpec, RefusesFactorsOutOfBounds) {
  const auto with_beta = [](double beta) { return refusal([beta](JobSpec& spec) { spec.beta = beta; }); };
  EXPECT_NE(with_beta(0.0), "");
  EXPECT_NE(with_beta(-2.0), "");
  EXPECT_NE(with_beta(nan), "");
  EXPECT_EQ(with_beta(0.01), "");
  EXPECT_EQ(with_beta(infinity), "") << "never stops a run early";
  const auto with_slowdown = [](double slowdown) {
    return refusal([slowdown](JobSpec& spec) { spec.max_slowdown = slowdown; });
  };
  EXPECT_NE(with_slowdown(0.999), "");
  EXPECT_NE(with_slowdown(nan), "");
  EXPECT_EQ(with_slowdown(1.0), "");
  const auto with_epochs = [](int epochs) { return refusal([epochs](JobSpec& spec) { spec.max_epochs = epochs; }); };
  EXPECT_NE(with_epochs(0), "");
  EXPECT_EQ(with_epochs(1), "");
  EXPECT_EQ(with_epochs(most_epochs), "");
  EXPECT_NE(with_epochs(most_epochs + 1), "");
  EXPECT_NE(refusal([](JobSpec& spec) { spec.eta = 1.5; }), "");
  EXPECT_NE(refusal([](JobSpec& spec) { spec.max_power = 0_W; }), "");
}

TEST(JobSpec, RefusesInvalidPowerLimits) {
  for (const double limit : {0.0, -1.0, nan, infinity}) {
    EXPECT_NE(refusal([limit](JobSpec& spec) { spec.power_limits.front() = Watts{limit}; }), "") << limit;
    EXPECT_NE(refusal([limit](JobSpec& spec) { spec.power_limits.back() = Watts{limit}; }), "") << limit;
  }
}

TEST(JobSpec, RefusesPriorBeliefsThatDoNotFitTheJob) {
  const auto with = [](int batch_size, double mean, double deviation) {
    return refusal([=](JobSpec& spec) {
      spec.priors = {{.batch_size = 16, .mean = 5_J, .deviation = 1_J},
                     {.batch_size = batch_size, .mean = Joules{mean}, .deviation = Joules{deviation}}};
    });
  };
  EXPECT_EQ(with(64, 5.0, 1.0), "");
  EXPECT_EQ(with(64, -5.0, 1.0), "");
  EXPECT_NE(with(48, 5.0, 1.0), "") << "not in the set";
  EXPECT_NE(with(64, nan, 1.0), "");
  EXPECT_NE(with(64, 5.0, 0.0), "");
  EXPECT_NE(with(64, 5.0, -1.0), "");
  EXPECT_NE(with(64, 5.0, infinity), "");
}

}  // namespace
}  // namespace zeus::optimize
