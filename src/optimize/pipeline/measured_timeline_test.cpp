#include "optimize/pipeline/measured_timeline.hpp"

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

records::MeasuredComputation computation(std::uint32_t stage, std::uint32_t microbatch, const char* instruction,
                                         double start, double end) {
  return {.rank = stage,
          .stage = stage,
          .microbatch = microbatch,
          .instruction = instruction,
          .start = Seconds{start},
          .duration = Seconds{end - start},
          .frequency = 1410_MHz,
          .power = 300_W};
}

std::vector<std::string> critical_of(std::vector<records::MeasuredComputation> computations) {
  records::MeasuredIteration iteration;
  iteration.ranks = 3;
  iteration.computations = std::move(computations);
  const records::Timeline timeline = timeline_of(iteration);
  std::vector<std::string> names;
  for (const std::size_t i : timeline.critical) {
    names.push_back(timeline.boxes[i].name);
  }
  return names;
}

TEST(MeasuredTimeline, TheChainGoesThroughWhatEndedLast) {
  // Stage 1 is slow, so that the second backward of stage 0 waits for its neighbour and the first does not.
  EXPECT_EQ(critical_of({computation(0, 0, "forward", 0, 1), computation(0, 1, "forward", 1, 2),
                         computation(1, 0, "forward", 1.1, 3), computation(1, 0, "backward", 3, 6),
                         computation(1, 1, "forward", 6, 8), computation(1, 1, "backward", 8, 11),
                         computation(0, 0, "backward", 6.1, 7), computation(0, 1, "backward", 11.1, 12)}),
            (std::vector<std::string>{"forward 0.0", "forward 1.0", "backward 1.0", "forward 1.1", "backward 1.1",
                                      "backward 0.1"}));
}

TEST(MeasuredTimeline, ABackwardThatRecomputesWaitsForAnyGradientOfTheNextStage) {
  EXPECT_EQ(critical_of({computation(0, 0, "forward", 0, 1), computation(1, 0, "forward", 1, 3),
                         computation(1, 0, "backward", 3, 6), computation(0, 0, "forward_backward", 6, 8)}),
            (std::vector<std::string>{"forward 0.0", "forward 1.0", "backward 1.0", "forward_backward 0.0"}));
}

TEST(MeasuredTimeline, OneRankIsAChain) {
  EXPECT_EQ(critical_of({computation(0, 0, "backward", 1, 2), computation(0, 0, "forward", 0, 1)}),
            (std::vector<std::string>{"forward 0.0", "backward 0.0"}));
}

TEST(MeasuredTimeline, ChainsEndWhateverTheTimes) {
  // Clocks of machines may differ, so that a computation seems to begin before what it waits for.
  const auto chain = critical_of({computation(0, 0, "forward", 2, 3), computation(1, 0, "forward", 2, 3),
                                  computation(1, 0, "backward", 1, 4), computation(0, 0, "backward", 1, 5)});
  EXPECT_EQ(chain.back(), "backward 0.0");
  EXPECT_LE(chain.size(), 4U);
}

TEST(MeasuredTimeline, BoxesAreThoseThatWereMeasured) {
  records::MeasuredIteration iteration;
  iteration.time = 3_s;
  iteration.energy = 500_J;
  iteration.computations = {computation(0, 7, "forward", 0.5, 2)};
  const records::Timeline timeline = timeline_of(iteration);
  EXPECT_EQ(timeline.time, 3_s);
  EXPECT_EQ(timeline.energy, 500_J);
  ASSERT_EQ(timeline.boxes.size(), 1U);
  EXPECT_EQ(timeline.boxes[0].name, "forward 0.7");
  EXPECT_EQ(timeline.boxes[0].start, 0.5_s);
  EXPECT_EQ(timeline.boxes[0].duration, 1.5_s);
  EXPECT_EQ(timeline.boxes[0].frequency, 1410_MHz);
  EXPECT_EQ(timeline.boxes[0].power, 300_W);
}

}  // namespace
}  // namespace zeus::optimize::pipeline
