#include "optimize/pipeline/flow_network.hpp"

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

const std::vector<TradeOff> one_second{{{.time = 1_s, .cost = 1_J}}};

records::ComputationGraph alike(std::size_t count) {
  records::ComputationGraph graph;
  for (std::size_t i = 0; i < count; ++i) {
    graph.computations.push_back({.name = "c", .instruction = "c", .device = 0, .profile = 0});
  }
  return graph;
}

// c0 comes before c1; c2 is independent.
TEST(FlowNetwork, ConnectsTheSourceToFirstComputationsAndLastOnesToTheSink) {
  records::ComputationGraph graph = alike(3);
  graph.dependencies = {{0, 1, 2_s}};
  const FlowNetwork network{graph, one_second};
  EXPECT_EQ(network.ways_from(network.source()).size(), 2U);
  EXPECT_EQ(network.ways_from(network.sink()).size(), 2U);
  const Arc& dependency = network.arc(3);
  EXPECT_EQ(dependency.tail, 1);
  EXPECT_EQ(dependency.head, 2);
  EXPECT_EQ(dependency.curve, -1);
  EXPECT_EQ(network.earliest_when_slowest(), (std::vector<Ticks>{0, 1, 3, 4, 0, 1, 0, 4}));
}

TEST(FlowNetwork, AcceptsManyMoreDependenciesThanComputations) {
  records::ComputationGraph graph = alike(2);
  graph.dependencies.assign(7, {0, 1, 0_s});
  const FlowNetwork network{graph, one_second};
  EXPECT_EQ(network.ways_from(1).size(), 8U) << "the computation's own arc, backwards, and seven";
}

}  // namespace
}  // namespace zeus::optimize::pipeline
