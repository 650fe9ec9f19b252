#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {
namespace {

// A rank with one stage, whose instructions take so many times as long as those of a stage of size 1.
PipelineRank rank_of(int stage, double size, int microbatches) {
  PipelineRank rank;
  for (const char* const name : {"forward", "backward"}) {
    const double work = size * (std::string_view{name} == "forward" ? 0.03 : 0.06);
    for (int clock = 1410; clock >= 810; clock -= 75) {
      const double x = clock / 1410.0;
      const double time = work * (0.2 + 0.8 / x);
      rank.measurements.push_back({.stage = stage,
                                   .instruction = name,
                                   .frequency = Megahertz{static_cast<double>(clock)},
                                   .time = Seconds{time},
                                   .energy = Joules{time * (100 + 250 * x * x * x)}});
    }
    for (int m = 0; m < microbatches; ++m) {
      rank.steps.push_back({.instruction = name, .stage = stage, .microbatch = m});
    }
  }
  return rank;
}

std::vector<PipelineRank> uneven() {
  return {rank_of(0, 0.8, 4), rank_of(1, 1.0, 4), rank_of(2, 0.85, 4)};
}

std::string refusal(const std::vector<PipelineRank>& ranks,
                    const PipelinePlanOptions& options = {.blocking_power = 70_W}) {
  try {
    (void)plan_pipeline(ranks, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.message();
  }
  return "planned";
}

TEST(PipelinePlanner, TheSlowestStageKeepsItsSpeedAndOthersSlowDown) {
  const PlannedPipeline plan = plan_pipeline(uneven(), {.blocking_power = 70_W});
  EXPECT_NEAR(plan.time.value(), plan.fastest_time.value(), 1e-9);
  EXPECT_LT(plan.energy, 0.97 * plan.fastest_energy);
  ASSERT_EQ(plan.ranks.size(), 3U);
  for (const PipelineInstruction& one : plan.ranks[1]) {
    EXPECT_EQ(one.frequency, 1410_MHz) << "GPipe's slowest stage is busy all the time";
  }
  EXPECT_LT(plan.ranks[0][1].frequency, 1410_MHz);
  EXPECT_EQ(plan.ranks[0][0].name, "forward");
  EXPECT_EQ(plan.ranks[0].size(), 8U);
}

TEST(PipelinePlanner, MoreTimeSavesMoreAndCopiesMultiply) {
  const PlannedPipeline fast = plan_pipeline(uneven(), {.blocking_power = 70_W});
  const PlannedPipeline slow = plan_pipeline(uneven(), {.blocking_power = 70_W, .max_slowdown = 1.1});
  EXPECT_NEAR(slow.time.value(), 1.1 * slow.fastest_time.value(), 1e-9);
  EXPECT_LT(slow.energy, fast.energy);
  const PlannedPipeline copies = plan_pipeline(uneven(), {.blocking_power = 70_W, .copies = 3});
  EXPECT_NEAR(copies.energy.value(), 3 * fast.energy.value(), 1e-6);
}

TEST(PipelinePlanner, MoreTimeThanTheLeastEnergyTakesIsNotUsed) {
  const PlannedPipeline enough = plan_pipeline(uneven(), {.blocking_power = 70_W, .max_slowdown = 2.0});
  const PlannedPipeline more = plan_pipeline(uneven(), {.blocking_power = 70_W, .max_slowdown = 5.0});
  EXPECT_LT(enough.time, 2.0 * enough.fastest_time);
  EXPECT_EQ(more.time, enough.time);
  EXPECT_EQ(more.energy, enough.energy);
}

TEST(PipelinePlanner, AStageWithOneClockKeepsIt) {
  std::vector<PipelineRank> ranks = uneven();
  std::erase_if(ranks[0].measurements, [](const PipelineMeasurement& one) { return one.frequency != 1410_MHz; });
  const PlannedPipeline plan = plan_pipeline(ranks, {.blocking_power = 70_W});
  for (const PipelineInstruction& one : plan.ranks[0]) {
    EXPECT_EQ(one.frequency, 1410_MHz);
  }
}

TEST(PipelinePlanner, RanksThatMakeNoSenseAreNamed) {
  EXPECT_EQ(refusal(uneven()), "planned");
  std::vector<PipelineRank> ranks = uneven();
  ranks[2].measurements[0].time = Seconds{std::nan("")};
  EXPECT_NE(refusal(ranks).find("rank 2: 'forward' of stage 2 takes nan s"), std::string::npos);
  ranks[2].measurements[0].time = Seconds{0};
  EXPECT_NE(refusal(ranks).find("rank 2: 'forward' of stage 2 takes 0 s"), std::string::npos);
  ranks = uneven();
  ranks[1].steps.clear();
  EXPECT_EQ(refusal(ranks), "rank 1: it runs nothing in an iteration");
  ranks = uneven();
  ranks[1].measurements.clear();
  EXPECT_EQ(refusal(ranks), "rank 1 runs forward 1.0, which no rank has measured");
  ranks = uneven();
  ranks[1] = rank_of(0, 1.0, 4);
  EXPECT_EQ(refusal(ranks), "rank 1: it has measured forward of stage 0, as rank 0 has");
  ranks = uneven();
  std::ranges::reverse(ranks[1].steps);  // backwards before forwards, which then wait for one another
  EXPECT_NE(refusal(ranks), "");
  EXPECT_NE(refusal({}).find("at least one rank"), std::string::npos);
  EXPECT_NE(refusal(uneven(), {.blocking_power = 70_W, .max_slowdown = 0.5}).find("a slowdown of 0.5"),
            std::string::npos);
}

}  // namespace
}  // namespace zeus
