#include "pacing/pipeline_timing.hpp"

#include "tests/support/at_second.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::pacing {
namespace {

using test::at_second;

using namespace zeus::literals;

constexpr Seconds lead_time{0.050};

// Runs one iteration that begins at `start`; each instruction takes `each`.
double iteration(PipelineTiming& timing, const std::vector<PipelineInstruction>& plan, double start, double each) {
  for (const PipelineInstruction& instruction : plan) {
    timing.begin(instruction.name, at_second(start));
    start += each;
    timing.end(instruction.name);
  }
  timing.end_iteration();
  return start;
}

const std::vector<PipelineInstruction> slow_then_fast{{"forward", Megahertz{900}}, {"backward", Megahertz{1380}}};

TEST(PipelineTiming, TheFirstClockIsThereBeforeAnythingBegins) {
  const PipelineTiming timing{slow_then_fast};
  EXPECT_EQ(timing.wish(at_second(0), lead_time).clock, Megahertz{900});
}

TEST(PipelineTiming, TheFirstTimeAFasterClockIsAskedForWhenWhatIsBeforeItHasEnded) {
  PipelineTiming timing{slow_then_fast};
  timing.begin("forward", at_second(1));
  EXPECT_EQ(timing.wish(at_second(1.9), lead_time).clock, Megahertz{900});
  EXPECT_FALSE(timing.wish(at_second(1.9), lead_time).until);
  timing.end("forward");
  EXPECT_EQ(timing.wish(at_second(2), lead_time).clock, Megahertz{1380});
}

TEST(PipelineTiming, AfterwardsItIsAskedForAheadOfTime) {
  PipelineTiming timing{slow_then_fast};
  const double second = iteration(timing, slow_then_fast, 0, 1);
  timing.begin("forward", at_second(second));
  const PipelineTiming::Wish wish = timing.wish(at_second(second + 0.5), lead_time);
  EXPECT_EQ(wish.clock, Megahertz{900});
  ASSERT_TRUE(wish.until);
  EXPECT_NEAR((*wish.until - at_second(second)).value(), 0.95, 1e-6);
  EXPECT_EQ(timing.wish(*wish.until, lead_time).clock, Megahertz{1380});
}

TEST(PipelineTiming, ASlowerClockWaitsForItsComputation) {
  PipelineTiming timing{slow_then_fast};
  const double second = iteration(timing, slow_then_fast, 0, 1);
  timing.begin("forward", at_second(second));
  timing.end("forward");
  timing.begin("backward", at_second(second + 1));
  timing.end("backward");
  timing.end_iteration();
  EXPECT_EQ(timing.wish(at_second(second + 1.99), lead_time).clock, Megahertz{1380});
  timing.begin("forward", at_second(second + 2));
  EXPECT_EQ(timing.wish(at_second(second + 2), lead_time).clock, Megahertz{900});
}

TEST(PipelineTiming, ComputationsShorterThanTheLeadAreLookedPast) {
  const std::vector<PipelineInstruction> plan{
      {"a", Megahertz{900}}, {"b", Megahertz{1000}}, {"c", Megahertz{1380}}, {"d", Megahertz{800}}};
  PipelineTiming timing{plan};
  const double second = iteration(timing, plan, 0, 0.02);
  timing.begin("a", at_second(second));
  // c begins in 40 ms, less than the clock takes to change.
  EXPECT_EQ(timing.wish(at_second(second), lead_time).clock, Megahertz{1380});
}

TEST(PipelineTiming, VaryingTimesCountAtTheirShortest) {
  PipelineTiming timing{slow_then_fast};
  double start = iteration(timing, slow_then_fast, 0, 1);
  start = iteration(timing, slow_then_fast, start, 0.5);
  start = iteration(timing, slow_then_fast, start, 2);
  timing.begin("forward", at_second(start));
  EXPECT_NEAR((*timing.wish(at_second(start), lead_time).until - at_second(start)).value(), 0.45, 1e-6);
}

TEST(PipelineTiming, NoClockOfItsOwnIsTheLastOneBeforeIt) {
  const std::vector<PipelineInstruction> plan{
      {"receive", Megahertz{0}}, {"forward", Megahertz{900}}, {"send", Megahertz{0}}};
  PipelineTiming timing{plan};
  EXPECT_EQ(timing.wish(at_second(0), lead_time).clock, Megahertz{900});
  (void)iteration(timing, plan, 0, 1);
  EXPECT_EQ(timing.wish(at_second(3), lead_time).clock, Megahertz{900});
  const PipelineTiming none{{{"forward", Megahertz{0}}}};
  EXPECT_EQ(none.wish(at_second(0), lead_time).clock, Megahertz{0});
}

TEST(PipelineTiming, AnInstructionOutOfOrderIsRefusedAndChangesNothing) {
  PipelineTiming timing{slow_then_fast};
  EXPECT_THROW(timing.begin("backward", at_second(0)), Error);
  EXPECT_THROW(timing.end("forward"), Error);
  EXPECT_THROW(timing.end_iteration(), Error);
  timing.begin("forward", at_second(0));
  EXPECT_THROW(timing.end("backward"), Error);
  timing.end("forward");
  EXPECT_THROW(timing.end("forward"), Error);
  timing.begin("backward", at_second(1));
  EXPECT_THROW(timing.begin("forward", at_second(2)), Error);
  timing.end_iteration();
  timing.begin("forward", at_second(2));
}

TEST(PipelineTiming, PlansThatCannotBeFollowedAreRefused) {
  EXPECT_THROW(PipelineTiming{{}}, Error);
  EXPECT_THROW((PipelineTiming{{{"forward", Megahertz{-1}}}}), Error);
}

}  // namespace
}  // namespace zeus::pacing
