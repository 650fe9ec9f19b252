#include "simulate/drift.hpp"
#include "tests/support/small_workload.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace zeus::simulate {
namespace {

TEST(Stage, RunsCommonDrawsUnderEveryPolicy) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const auto nth_epochs = [&stage](std::string_view policy) {
    std::map<int, std::vector<int>> epochs;
    for (const SimulatedTry& attempt : run(stage, policy, 7).tries) {
      if (records::reached(attempt.result.outcome)) {
        epochs[static_cast<int>(attempt.result.arm)].push_back(attempt.result.epochs);
      }
    }
    return epochs;
  };
  const auto of_default = nth_epochs("default").at(3);
  const auto of_zeus = nth_epochs("zeus").at(3);
  EXPECT_TRUE(std::equal(of_zeus.begin(), of_zeus.end(), of_default.begin()));
}

TEST(Stage, AStoppedTryCostsTheEpochsItRan) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const Joules epoch = stage.cost().of_epoch(workload.arms[3].limits[2]);
  const TryResult result =
      stage.run({.batch_size = 128, .limit = 250_W, .max_epochs = 50, .budget = epoch * 3.5}, 1, 0);
  EXPECT_EQ(result.outcome, records::TryOutcome::stopped);
  EXPECT_EQ(result.epochs, 3);
  EXPECT_NEAR(result.cost / epoch, 3.0, 1e-12);
  const TryResult nothing =
      stage.run({.batch_size = 128, .limit = 250_W, .max_epochs = 50, .budget = epoch * 0.5}, 1, 1);
  EXPECT_EQ(nothing.epochs, 0);
  EXPECT_EQ(nothing.cost, 0_J);
}

TEST(Stage, ProfilingWhileRunningMakesTheFirstEpochAMeanOne) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const TryResult plain = stage.run({.batch_size = 128, .limit = 175_W, .max_epochs = 50, .budget = {}}, 1, 0);
  const TryResult profiled = stage.run({.batch_size = 128, .limit = {}, .max_epochs = 50, .budget = {}}, 1, 0);
  const auto mean = optimize::mean_epoch(workload.arms[3].limits);
  EXPECT_NEAR((profiled.time - plain.time).value(), (mean.epoch_time - workload.arms[3].limits[1].epoch_time).value(),
              1e-9);
}

TEST(Stage, ProfilingBeforehandTakesFiveSecondsALimitOrItsShareOfAnEpoch) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  EXPECT_EQ(stage.profile({.batch_size = 16, .limits = {100_W, 250_W}}).time, 10_s);
  Workload fast = workload;
  fast.arms[0].limits[0].epoch_time = 6_s;
  EXPECT_EQ(Stage(fast, 0.5).profile({.batch_size = 16, .limits = {100_W}}).time, 2_s);
}

TEST(Drift, ARandomOneMovesTheBestByTwoOctaves) {
  const Workload workload = small_workload();
  const optimize::EnergyTimeCost cost{0.5, workload.max_power};
  const auto drift = random_drift(workload, 0.5, 20, 4);
  ASSERT_TRUE(drift);
  const Workload after = drifted(workload, *drift);
  const double before_size = workload.arms[optimum(workload, cost).arm].batch_size;
  const double after_size = after.arms[optimum(after, cost).arm].batch_size;
  EXPECT_GE(std::fabs(std::log2(after_size / before_size)), 2.0);
}

TEST(Drift, RefusesAnythingElse) {
  for (const char* text : {"x", "at=", "at=-1", "tilt=nan", "curve=1e99", "at=3;tilt=1"}) {
    EXPECT_THROW(parse_drift(text, small_workload(), 0.5, 1), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::simulate
