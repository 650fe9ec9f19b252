#include "optimize/pipeline/timeline.hpp"

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

TEST(Timeline, StartsEverythingAsSoonAsItCanAndFindsTheCriticalPath) {
  const records::FrequencyOption slow{700_MHz, 3_s, 30_J};
  const records::FrequencyOption fast{1400_MHz, 1_s, 20_J};
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {slow, fast}}};
  graph.devices = 2;
  graph.computations = {{"a", "a", 0, 0}, {"b", "b", 1, 0}, {"c", "c", 0, 0}};
  graph.dependencies = {{0, 2, 0_s}, {1, 2, 500_ms}};
  const std::vector options{fast, slow, fast};
  const records::Timeline timeline = timeline_of(graph, options, 5_s, 2_W);
  EXPECT_EQ(timeline.boxes[2].start, 3.5_s);
  EXPECT_EQ(timeline.boxes[1].power, 10_W);
  EXPECT_EQ(timeline.critical, (std::vector<std::size_t>{1, 2}));
  // 70 J of computing, and 2 W on each of two devices while it does not: 10 s less 5 s.
  EXPECT_EQ(timeline.energy, 80_J);
}

TEST(Timeline, FastestOptionsAreTheFastestOfEachKind) {
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {{700_MHz, 3_s, 30_J}, {1400_MHz, 1_s, 20_J}}}};
  graph.computations = {{"a", "a", 0, 0}};
  EXPECT_EQ(fastest_options(graph, 0_W), (std::vector<records::FrequencyOption>{{1400_MHz, 1_s, 20_J}}));
}

}  // namespace
}  // namespace zeus::optimize::pipeline
