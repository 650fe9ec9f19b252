#include "optimize/pipeline/frontier.hpp"

#include "optimize/pipeline/schedule.hpp"
#include "optimize/pipeline/topology.hpp"
#include "tests/support/random_graph.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::optimize::pipeline {
namespace {

using records::ComputationGraph;
using records::ComputationProfile;

const ComputationProfile two_speeds{"two speeds", {{Megahertz{1400}, 1_s, 10_J}, {Megahertz{700}, 3_s, 4_J}}};

ComputationGraph chain_of(const std::vector<ComputationProfile>& profiles) {
  ComputationGraph graph;
  graph.profiles = profiles;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    graph.computations.push_back({.name = "c" + std::to_string(i), .instruction = "c", .device = 0, .profile = i});
    if (i > 0) {
      graph.dependencies.push_back({.from = i - 1, .to = i, .time = Seconds{0}});
    }
  }
  return graph;
}

TEST(Frontier, IsTheHullOfASingleComputation) {
  const Frontier frontier{chain_of({two_speeds}), 0_W};
  EXPECT_EQ(frontier.points().size(), 2u);
  EXPECT_EQ(frontier.points().front(), (FrontierPoint{1_s, 10_J}));
  EXPECT_EQ(frontier.points().back(), (FrontierPoint{3_s, 4_J}));
  EXPECT_EQ(frontier.energy_at(2_s), 7_J);
  EXPECT_EQ(frontier.durations_at(2_s), std::vector{2_s});
}

TEST(Frontier, SavesTheCheapestSecondFirst) {
  // A second costs 1 J to save in the second computation, and 3 J in the first.
  const ComputationProfile cheap{"cheap", {{Megahertz{1400}, 1_s, 6_J}, {Megahertz{700}, 3_s, 4_J}}};
  const Frontier frontier{chain_of({two_speeds, cheap}), 0_W};
  ASSERT_EQ(frontier.points().size(), 3u);
  EXPECT_EQ(frontier.points()[1], (FrontierPoint{4_s, 10_J}));
  EXPECT_EQ(frontier.durations_at(5_s), (std::vector{3_s, 2_s}));
  EXPECT_EQ(frontier.durations_at(3_s), (std::vector{2_s, 1_s}));
}

TEST(Frontier, AnIterationBeyondTheCheapestOnlyBlocksLonger) {
  const Frontier frontier{chain_of({two_speeds}), 1_W};
  EXPECT_EQ(frontier.energy_at(13_s), frontier.energy_at(3_s) + 10_J);
  EXPECT_EQ(frontier.durations_at(13_s), frontier.durations_at(3_s));
}

TEST(Frontier, AnIterationFasterThanTheFastestIsRefused) {
  const Frontier frontier{chain_of({two_speeds}), 0_W};
  EXPECT_THROW(static_cast<void>(frontier.energy_at(0.99_s)), Error);
  EXPECT_THROW(static_cast<void>(frontier.durations_at(0.99_s)), Error);
  EXPECT_THROW(static_cast<void>(frontier.energy_at(Seconds{std::numeric_limits<double>::quiet_NaN()})), Error);
}

TEST(Frontier, LeastEnergyIncludesBlocking) {
  // Two devices, of which one only waits: each further second saves 3 J of computing and 1 W, and costs 2 W of waiting.
  ComputationGraph graph = chain_of({two_speeds});
  graph.devices = 2;
  EXPECT_EQ(Frontier(graph, 1_W).least_energy(), 3_s);
  graph.devices = 6;
  EXPECT_EQ(Frontier(graph, 1_W).least_energy(), 1_s);
}

TEST(Frontier, CopiesMultiplyTheEnergyAndNothingElse) {
  ComputationGraph graph = chain_of({two_speeds, two_speeds});
  const Frontier one{graph, 2_W};
  graph.copies = 8;
  const Frontier eight{graph, 2_W};
  ASSERT_EQ(one.points().size(), eight.points().size());
  for (std::size_t i = 0; i < one.points().size(); ++i) {
    EXPECT_EQ(one.points()[i].time, eight.points()[i].time);
    EXPECT_DOUBLE_EQ(8 * one.points()[i].energy.value(), eight.points()[i].energy.value());
  }
}

TEST(Frontier, AnIterationWithoutDurationIsAPoint) {
  const ComputationProfile nothing{"nothing", {{Megahertz{0}, 0_s, 5_J}}};
  const Frontier frontier{chain_of({nothing, nothing}), 70_W};
  EXPECT_EQ(frontier.fastest(), 0_s);
  EXPECT_EQ(frontier.energy_at(0_s), 10_J);
}

TEST(Frontier, UnusedProfilesDoNotReducePrecision) {
  const ComputationProfile brief{"brief", {{Megahertz{1400}, Seconds{1e-10}, 10_J}}};
  ComputationGraph graph = chain_of({brief, brief});
  graph.profiles.push_back({"long", {{Megahertz{1400}, Seconds{1e6}, 10_J}}});
  EXPECT_DOUBLE_EQ((Frontier{graph, 70_W}.fastest().value()), 2e-10);
}

TEST(Frontier, PointsAreConvexAndWithinTheirEnds) {
  for (std::uint64_t number = 0; number < 50; ++number) {
    Random random{9, number};
    const Frontier frontier{test::random_graph(random, {}), Watts{random.uniform(0, 100)}};
    const auto points = frontier.points();
    EXPECT_EQ(points.front().time, frontier.fastest());
    EXPECT_EQ(points.back().time, frontier.slowest());
    for (std::size_t i = 2; i < points.size(); ++i) {
      const Watts before = (points[i - 1].energy - points[i - 2].energy) / (points[i - 1].time - points[i - 2].time);
      const Watts after = (points[i].energy - points[i - 1].energy) / (points[i].time - points[i - 1].time);
      EXPECT_LE(before.value(), after.value() + 1e-6 * (1.0 + std::abs(after.value())));
    }
  }
}

TEST(Frontier, PlansChangeContinuouslyAcrossCheckpoints) {
  std::vector<StageProfile> profiles;
  Random random{10};
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (const char* instruction : {"forward", "backward"}) {
      ComputationProfile profile{instruction, {}};
      for (int i = 0; i < 15; ++i) {
        const double clock = 1.0 - 0.04 * i;
        const double time = random.uniform(0.9, 1.1) / clock;
        profile.options.push_back({Megahertz{1410 * clock}, Seconds{time}, Joules{time * (90 + 250 * clock * clock)}});
      }
      profiles.push_back({stage, profile});
    }
  }
  const ComputationGraph graph = make_schedule({.devices = 4, .microbatches = 8}, profiles);
  const Frontier frontier{graph, 70_W};
  EXPECT_GT(frontier.effort().rate_changes, 512u);  // enough for several checkpoints
  const Seconds step = (frontier.slowest() - frontier.fastest()) / 5000.0;
  std::vector<Seconds> before = frontier.durations_at(frontier.fastest());
  for (int i = 1; i <= 5000; ++i) {
    const std::vector<Seconds> now = frontier.durations_at(frontier.fastest() + step * i);
    for (std::size_t k = 0; k < now.size(); ++k) {
      ASSERT_LE(std::abs((now[k] - before[k]).value()), step.value() * 1.0001) << "computation " << k << ", step " << i;
    }
    before = now;
  }
}

}  // namespace
}  // namespace zeus::optimize::pipeline
