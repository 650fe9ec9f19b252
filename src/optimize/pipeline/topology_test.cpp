#include "optimize/pipeline/topology.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace zeus::optimize::pipeline {
namespace {

records::ComputationGraph uniform_chain(std::size_t count) {
  records::ComputationGraph graph;
  graph.profiles = {{"kind", {{Megahertz{1000}, Seconds{1}, Joules{1}}}}};
  for (std::size_t i = 0; i < count; ++i) {
    graph.computations.push_back({.name = "c" + std::to_string(i), .instruction = "c", .device = 0, .profile = 0});
    if (i > 0) {
      graph.dependencies.push_back({.from = i - 1, .to = i, .time = Seconds{0}});
    }
  }
  return graph;
}

void expect_graph_refused(const records::ComputationGraph& graph, std::string_view fragment) {
  try {
    check(graph);
    FAIL() << "accepted, though: " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string_view{error.what()}.find(fragment), std::string_view::npos) << error.what();
    EXPECT_FALSE(error.advice().empty());
  }
}

TEST(Topology, OrdersEveryComputationAfterWhatItWaitsFor) {
  records::ComputationGraph graph = uniform_chain(4);
  graph.dependencies = {{3, 1, Seconds{0}}, {1, 0, Seconds{0}}, {3, 2, Seconds{0}}};
  const std::vector<std::size_t> order = topological_order(graph);
  const auto place = [&](std::size_t i) { return std::ranges::find(order, i) - order.begin(); };
  EXPECT_EQ(order.size(), 4u);
  for (const records::Dependency& edge : graph.dependencies) {
    EXPECT_LT(place(edge.from), place(edge.to));
  }
}

TEST(Topology, TheErrorForACycleNamesItsMembers) {
  records::ComputationGraph graph = uniform_chain(5);
  graph.dependencies.push_back({.from = 3, .to = 1, .time = Seconds{0}});
  expect_graph_refused(graph, "c1");
  expect_graph_refused(graph, "c2 -> c3");
  graph = uniform_chain(2);
  graph.dependencies.push_back({.from = 1, .to = 1, .time = Seconds{0}});
  expect_graph_refused(graph, "c1 -> c1");
}

// c1 waits for the cycle and for c0, which is not on it; c3 depends on c1.
TEST(Topology, ComputationsOutsideTheCycleAreNotNamed) {
  records::ComputationGraph graph = uniform_chain(4);
  graph.dependencies = {{1, 2, Seconds{0}}, {2, 1, Seconds{0}}, {2, 3, Seconds{0}}, {0, 1, Seconds{0}}};
  expect_graph_refused(graph, "in a circle: c2 -> c1 -> c2");
}

TEST(Topology, ALongCycleIsShortened) {
  records::ComputationGraph graph = uniform_chain(1000);
  graph.dependencies.push_back({.from = 999, .to = 0, .time = Seconds{0}});
  expect_graph_refused(graph, "c0 -> c1 -> c2 -> c3 -> c4 -> c5 -> c6 -> c7 -> c8 -> ...");
}

TEST(Topology, RefusesReferencesToWhatDoesNotExist) {
  expect_graph_refused({}, "no computation");
  records::ComputationGraph graph = uniform_chain(2);
  graph.dependencies[0].to = 2;
  expect_graph_refused(graph, "dependency");
  graph = uniform_chain(2);
  graph.computations[1].profile = 1;
  expect_graph_refused(graph, "c1");
  graph = uniform_chain(2);
  graph.computations[1].device = 1;
  expect_graph_refused(graph, "c1");
  graph = uniform_chain(2);
  graph.devices = 0;
  expect_graph_refused(graph, "device");
}

TEST(Topology, RefusesInvalidTimes) {
  for (const double time : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    records::ComputationGraph graph = uniform_chain(2);
    graph.dependencies[0].time = Seconds{time};
    expect_graph_refused(graph, "from 'c0' to 'c1'");
  }
}

TEST(Topology, UnconnectedComputationsRunSideBySide) {
  records::ComputationGraph graph = uniform_chain(3);
  graph.dependencies.pop_back();
  const std::vector<Seconds> durations{1_s, 2_s, 2.5_s};
  EXPECT_EQ(iteration_time(graph, durations), 3_s);
  EXPECT_EQ(earliest_starts(graph, durations), (std::vector<Seconds>{0_s, 1_s, 0_s}));
}

TEST(Topology, CommunicationDelaysTheStart) {
  records::ComputationGraph graph = uniform_chain(2);
  graph.dependencies[0].time = 500_ms;
  EXPECT_EQ(iteration_time(graph, std::vector<Seconds>{1_s, 2_s}), 3.5_s);
}

}  // namespace
}  // namespace zeus::optimize::pipeline
