#include "optimize/pipeline/margin.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

TEST(Margin, SlowerOptionsGetSpareTimeAndBlockDuringIt) {
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {{1400_MHz, 1_s, 10_J}, {700_MHz, 2_s, 8_J}}}, {"empty", {}}};
  const records::ComputationGraph spared = with_margin(graph, 0.25, 4_W);
  EXPECT_EQ(spared.profiles[0].options[0], (records::FrequencyOption{1400_MHz, 1_s, 10_J}));
  EXPECT_EQ(spared.profiles[0].options[1], (records::FrequencyOption{700_MHz, 2.5_s, 10_J}));
}

TEST(Margin, RefusesMarginsOutside0To1) {
  EXPECT_THROW(with_margin({}, -0.1, 4_W), Error);
  EXPECT_THROW(with_margin({}, 1.01, 4_W), Error);
  EXPECT_NO_THROW(with_margin({}, 0.0, 4_W));
  EXPECT_NO_THROW(with_margin({}, 1.0, 4_W));
}

}  // namespace
}  // namespace zeus::optimize::pipeline
