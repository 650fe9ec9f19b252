#include "optimize/pipeline/schedule.hpp"

#include "optimize/pipeline/topology.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zeus::optimize::pipeline {
namespace {

std::vector<StageProfile> unit_profiles(Schedule schedule, std::size_t stages) {
  std::vector<StageProfile> profiles;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const std::string_view instruction : instructions_of(schedule)) {
      profiles.push_back({stage, {std::string{instruction}, {{Megahertz{1410}, 1_s, 1_J}}}});
    }
  }
  return profiles;
}

records::ComputationGraph unit_schedule(const PipelineShape& shape) {
  return make_schedule(shape, unit_profiles(shape.schedule, shape.devices * shape.chunks));
}

// "F0 F1 B0": initials and micro-batches in the order of a device; with several chunks, "F0.2" adds the stage.
std::string order_of(const records::ComputationGraph& graph, std::size_t device) {
  const std::map<std::string, std::string> initials{{"forward", "F"},        {"backward", "B"},
                                                    {"recomputation", "R"},  {"forward_backward", "FB"},
                                                    {"backward_input", "B"}, {"backward_weight", "W"}};
  std::string text;
  for (const records::Computation& computation : graph.computations) {
    if (computation.device == device) {
      const std::string where = computation.name.substr(computation.name.find(' ') + 1);
      const bool one_chunk = where.starts_with(std::to_string(device) + ".");
      text += (text.empty() ? "" : " ") + initials.at(computation.instruction) +
              (one_chunk ? where.substr(where.find('.') + 1) : where);
    }
  }
  return text;
}

Seconds unit_time(const records::ComputationGraph& graph) {
  return iteration_time(graph, std::vector<Seconds>(graph.computations.size(), 1_s));
}

TEST(Schedule, OneForwardOneBackwardHasTheKnownOrder) {
  const auto graph = unit_schedule({.devices = 4, .microbatches = 6});
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  EXPECT_EQ(order_of(graph, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  EXPECT_EQ(order_of(graph, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST(Schedule, AFullPipelineTakesTheKnownTime) {
  // Equal unit computations: 2 (M + S - 1).
  EXPECT_EQ(unit_time(unit_schedule({.devices = 4, .microbatches = 6})), 18_s);
  EXPECT_EQ(unit_time(unit_schedule({.schedule = Schedule::gpipe, .devices = 4, .microbatches = 6})), 18_s);
  // Interleaving shortens the bubble by the number of chunks: 2 (M V + S - 1).
  EXPECT_EQ(unit_time(unit_schedule({.schedule = Schedule::interleaved, .devices = 4, .microbatches = 8, .chunks = 2})),
            38_s);
  // Splitting the backward in two of the same length lets the weights' part fill the bubble: 3 M + S - 1.
  EXPECT_EQ(unit_time(unit_schedule({.schedule = Schedule::zero_bubble, .devices = 4, .microbatches = 8})), 27_s);
}

TEST(Schedule, GpipeRunsAllForwardsFirst) {
  const auto graph = unit_schedule({.schedule = Schedule::gpipe, .devices = 2, .microbatches = 3});
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 F2 B0 B1 B2");
}

TEST(Schedule, InterleavedTakesEachGroupOfMicrobatchesThroughAllChunks) {
  const auto graph = unit_schedule({.schedule = Schedule::interleaved, .devices = 2, .microbatches = 4, .chunks = 2});
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2.0 F2.1 F2 B2.0 F3 B2.1 F2.2 B0 F2.3 B1 B2.2 B2.3 B2 B3");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 F3.0 B3.0 F3.1 B3.1 F2 B0 F3 B1 F3.2 B3.2 F3.3 B3.3 B2 B3");
}

TEST(Schedule, EarlyRecomputationUsesTheDrain) {
  const auto graph = unit_schedule({.schedule = Schedule::early_recomputation, .devices = 3, .microbatches = 4});
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 FB0 F3 FB1 R2 B2 R3 B3");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 FB0 F2 FB1 F3 FB2 R3 B3");
  EXPECT_EQ(order_of(graph, 2), "F0 FB0 F1 FB1 F2 FB2 F3 FB3");
}

TEST(Schedule, ZeroBubblePostponesTheWeightsOfLaterStages) {
  const auto graph = unit_schedule({.schedule = Schedule::zero_bubble, .devices = 3, .microbatches = 4});
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(order_of(graph, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

TEST(Schedule, FewerMicrobatchesThanStagesStillRun) {
  for (const Schedule schedule : all_schedules()) {
    if (schedule != Schedule::interleaved) {
      const auto graph = unit_schedule({.schedule = schedule, .devices = 5, .microbatches = 2});
      EXPECT_NO_THROW(check(graph)) << to_string(schedule);
      EXPECT_GT(unit_time(graph), 0_s);
    }
  }
}

TEST(Schedule, EverythingRunsExactlyOnceWithoutACycle) {
  for (const Schedule schedule : all_schedules()) {
    for (const std::size_t chunks : std::vector<std::size_t>{1, 2, 3}) {
      if (chunks > 1 && schedule != Schedule::interleaved) {
        continue;
      }
      const auto graph = unit_schedule({.schedule = schedule, .devices = 4, .microbatches = 12, .chunks = chunks});
      ASSERT_NO_THROW(check(graph)) << to_string(schedule);
      std::map<std::string, int> seen;
      for (const records::Computation& computation : graph.computations) {
        EXPECT_EQ(++seen[computation.name], 1) << computation.name;
      }
      for (std::size_t stage = 0; stage < 4 * chunks; ++stage) {
        for (std::size_t m = 0; m < 12; ++m) {
          EXPECT_EQ(seen.count(fmt::format("forward {}.{}", stage, m)), 1u);
        }
      }
    }
  }
}

TEST(Schedule, TransfersTakeTheirTimeBetweenDevicesOnly) {
  EXPECT_EQ(unit_time(unit_schedule({.devices = 2, .microbatches = 1, .transfer_time = 500_ms})), 5_s);
  EXPECT_EQ(
      unit_time(unit_schedule(
          {.schedule = Schedule::interleaved, .devices = 1, .microbatches = 1, .chunks = 2, .transfer_time = 500_ms})),
      4_s);
}

TEST(Schedule, NamesRoundTrip) {
  for (const Schedule schedule : all_schedules()) {
    EXPECT_EQ(schedule_from(to_string(schedule)), schedule);
  }
  EXPECT_FALSE(schedule_from("2f2b"));
}

void expect_schedule_refused(const PipelineShape& shape, const std::vector<StageProfile>& profiles,
                             std::string_view fragment) {
  try {
    make_schedule(shape, profiles);
    FAIL() << "accepted, though: " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string_view{error.what()}.find(fragment), std::string_view::npos) << error.what();
  }
}

TEST(Schedule, NamesTheMissingOrDuplicateMeasurement) {
  const auto one_forward_one_backward = Schedule::one_forward_one_backward;
  expect_schedule_refused({.devices = 3, .microbatches = 2}, unit_profiles(one_forward_one_backward, 2),
                          "'forward' of stage 2");
  expect_schedule_refused({.devices = 2, .microbatches = 2}, unit_profiles(one_forward_one_backward, 3), "stage 2");
  expect_schedule_refused({.schedule = Schedule::zero_bubble, .devices = 2, .microbatches = 2},
                          unit_profiles(one_forward_one_backward, 2), "'backward_input' of stage 0");
  auto twice = unit_profiles(one_forward_one_backward, 2);
  twice.push_back(twice.front());
  expect_schedule_refused({.devices = 2, .microbatches = 2}, twice, "given twice");
}

TEST(Schedule, RefusesShapesItCannotRun) {
  const auto profiles = unit_profiles(Schedule::one_forward_one_backward, 4);
  expect_schedule_refused({.devices = 0, .microbatches = 2}, profiles, "without stages");
  expect_schedule_refused({.devices = 4, .microbatches = 0}, profiles, "without stages");
  expect_schedule_refused({.devices = 2, .microbatches = 2, .chunks = 2}, profiles, "interleaved");
  expect_schedule_refused({.schedule = Schedule::interleaved, .devices = 2, .microbatches = 3, .chunks = 2}, profiles,
                          "multiple");
  expect_schedule_refused({.devices = 4, .microbatches = std::size_t{1} << 60}, profiles, "too many");
  expect_schedule_refused(
      {.schedule = Schedule::interleaved, .devices = 2, .microbatches = 2, .chunks = std::size_t{1} << 60}, profiles,
      "too many");
}

// A stage has at most three computations for each micro-batch, and a plan at most twenty million.
TEST(Schedule, TheErrorForALargeShapeNamesTheMostMicrobatches) {
  try {
    make_schedule({.devices = 4, .microbatches = 1'666'667}, unit_profiles(Schedule::one_forward_one_backward, 4));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.advice().find("below 6666666"), std::string::npos) << error.advice();
  }
}

std::vector<StageProfile> plain_profiles(std::size_t stages) {
  std::vector<StageProfile> profiles;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const char* const name : {"forward", "backward"}) {
      profiles.push_back({.stage = stage, .profile = {.name = name, .options = {{1410_MHz, 1_s, 300_J}}}});
    }
  }
  return profiles;
}

// The orders of a schedule's graph, as a training would show them.
std::vector<std::vector<ObservedStep>> observed(const records::ComputationGraph& graph) {
  std::vector<std::vector<ObservedStep>> ranks(graph.devices);
  for (const records::Computation& computation : graph.computations) {
    const std::size_t blank = computation.name.find(' ');
    const std::size_t point = computation.name.find('.');
    ranks[computation.device].push_back({.instruction = computation.instruction,
                                         .stage = std::stoul(computation.name.substr(blank + 1, point - blank - 1)),
                                         .microbatch = std::stoul(computation.name.substr(point + 1))});
  }
  return ranks;
}

TEST(ObservedSchedule, IsTheGraphOfTheScheduleThatWasObserved) {
  const auto sorted = [](const records::ComputationGraph& graph) {
    std::vector<std::pair<std::string, std::string>> edges;
    for (const records::Dependency& edge : graph.dependencies) {
      edges.emplace_back(graph.computations[edge.from].name, graph.computations[edge.to].name);
    }
    std::ranges::sort(edges);
    return edges;
  };
  for (const auto& [schedule, chunks] : {std::pair{Schedule::one_forward_one_backward, std::size_t{1}},
                                         {Schedule::gpipe, std::size_t{1}},
                                         {Schedule::interleaved, std::size_t{2}},
                                         {Schedule::early_recomputation, std::size_t{1}},
                                         {Schedule::zero_bubble, std::size_t{1}}}) {
    const std::vector<StageProfile> profiles = unit_profiles(schedule, 3 * chunks);
    const records::ComputationGraph made = make_schedule(
        {.schedule = schedule, .devices = 3, .microbatches = 6, .chunks = chunks, .copies = 2, .transfer_time = 0_s},
        profiles);
    const records::ComputationGraph seen = observed_schedule(observed(made), 2, profiles);
    EXPECT_EQ(seen.computations.size(), made.computations.size());
    EXPECT_EQ(seen.copies, 2U);
    EXPECT_EQ(sorted(seen), sorted(made)) << to_string(schedule);
  }
}

TEST(ObservedSchedule, RanksThatMakeNoSenseAreNamed) {
  const std::vector<StageProfile> profiles = plain_profiles(2);
  const auto refusal = [&](const std::vector<std::vector<ObservedStep>>& ranks) {
    try {
      (void)observed_schedule(ranks, 1, profiles);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string{};
  };
  EXPECT_EQ(refusal({{{"forward", 0, 0}}, {{"forward", 1, 0}, {"forward", 1, 0}}}),
            "rank 1 runs forward 1.0, which ran already");
  EXPECT_EQ(refusal({{{"forward", 0, 0}}, {{"forward", 2, 0}}}), "rank 1 runs forward 2.0, which no rank has measured");
  EXPECT_EQ(refusal({{{"forward", 0, 0}, {"forward", 0, 1}}, {{"forward", 1, 0}}}),
            "rank 0 runs forward 0.1, but no rank runs the forward 1.1");
  EXPECT_EQ(refusal({{{"forward", 0, 0}}, {{"forward", 1, 0}, {"forward", 1, 1}}}),
            "rank 1 runs forward 1.1, but no rank runs the forward 0.1");
  EXPECT_EQ(refusal({{{"forward", 1, 0}}}), "rank 0 runs forward 1.0, but no rank runs the forward 0.0");
  EXPECT_EQ(refusal({{{"backward_weight", 0, 0}}}), "rank 0 runs backward_weight 0.0, which no rank has measured");
}

}  // namespace
}  // namespace zeus::optimize::pipeline
