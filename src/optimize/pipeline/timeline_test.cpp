#include "optimize/pipeline/timeline.hpp"

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

TEST(Timeline, StartsEverythingAsSoonAsPossibleAndFindsTheCriticalPath) {
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
  // 70 J of computing, and 2 W on each of two devices while it does not compute: 10 s minus 5 s.
  EXPECT_EQ(timeline.energy, 80_J);
}

// Both end at 1 s, and c can start then. Of equals, the first is the one that c waited for. A computation without
// duration draws no power. 2 x (2 W x 2 devices x 4 s + (20 - 2) + (20 - 2) + 0) J.
TEST(Timeline, TheFirstOfEqualsIsCriticalAndCopiesMultiplyTheEnergy) {
  const records::FrequencyOption fast{1400_MHz, 1_s, 20_J};
  const records::FrequencyOption nothing{1400_MHz, 0_s, 0_J};
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {fast}}, {"none", {nothing}}};
  graph.devices = 2;
  graph.copies = 2;
  graph.computations = {{"a", "a", 0, 0}, {"b", "b", 1, 0}, {"c", "c", 0, 1}};
  graph.dependencies = {{0, 2, 0_s}, {1, 2, 0_s}};
  const records::Timeline timeline = timeline_of(graph, std::vector{fast, fast, nothing}, 4_s, 2_W);
  EXPECT_EQ(timeline.boxes[2].power, 0_W);
  EXPECT_EQ(timeline.boxes[2].start, 1_s);
  EXPECT_EQ(timeline.critical, (std::vector<std::size_t>{0}));
  EXPECT_EQ(timeline.energy, 104_J);
  graph.dependencies.push_back({0, 2, 100_ms});
  EXPECT_EQ(timeline_of(graph, std::vector{fast, fast, nothing}, 4_s, 2_W).critical, (std::vector<std::size_t>{0, 2}));
}

TEST(Timeline, FastestOptionsAreTheFastestOfEachKind) {
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {{700_MHz, 3_s, 30_J}, {1400_MHz, 1_s, 20_J}}}};
  graph.computations = {{"a", "a", 0, 0}};
  EXPECT_EQ(fastest_options(graph, 0_W), (std::vector<records::FrequencyOption>{{1400_MHz, 1_s, 20_J}}));
}

}  // namespace
}  // namespace zeus::optimize::pipeline
