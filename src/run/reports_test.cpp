#include "run/reports.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus::run {
namespace {

TEST(Reports, AreStepsEpochsAndMetrics) {
  EXPECT_EQ(std::get<trial::StepsDone>(parse_report("step").value()).count, 1U);
  EXPECT_EQ(std::get<trial::StepsDone>(parse_report("step 25").value()).count, 25U);
  EXPECT_EQ(std::get<trial::EpochsDone>(parse_report("epoch").value()).count, 1U);
  EXPECT_EQ(std::get<trial::MetricSeen>(parse_report("metric -0.25e1").value()).value, -2.5);
  EXPECT_TRUE(std::isnan(std::get<trial::MetricSeen>(parse_report("metric nan").value()).value));
}

TEST(Reports, AreNothingElse) {
  for (const char* const line : {"", "step ", "step x", "step 0", "step -1", "step 1 2", "step 99999999999", "metric",
                                 "metric high", "metric 0.5 ", "epochs 3", "EPOCH", " step"}) {
    EXPECT_FALSE(parse_report(line).has_value()) << line;
  }
}

}  // namespace
}  // namespace zeus::run
