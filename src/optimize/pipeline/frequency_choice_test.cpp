#include "optimize/pipeline/frequency_choice.hpp"

#include "optimize/pipeline/schedule.hpp"
#include "optimize/pipeline/topology.hpp"
#include "tests/support/population.hpp"
#include "tests/support/random_graph.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::optimize::pipeline {
namespace {

using records::ComputationGraph;

std::vector<Seconds> durations_of(const FrequencyChoice& choice) {
  std::vector<Seconds> durations;
  for (const records::FrequencyOption& option : choice.options) {
    durations.push_back(option.time);
  }
  return durations;
}

Joules energy_of_choice(const ComputationGraph& graph, Watts blocking, Seconds time, const FrequencyChoice& choice) {
  Joules energy = blocking * static_cast<double>(graph.devices) * time;
  for (const records::FrequencyOption& option : choice.options) {
    energy += option.energy - blocking * option.time;
  }
  return energy * static_cast<double>(graph.copies);
}

// The least energy over every combination of measured options, found by trying all of them.
Joules exact_optimum(const ComputationGraph& graph, Watts blocking, Seconds time) {
  std::vector<std::size_t> digits(graph.computations.size(), 0);
  FrequencyChoice trial;
  trial.options.resize(digits.size());
  Joules best{std::numeric_limits<double>::infinity()};
  while (true) {
    for (std::size_t i = 0; i < digits.size(); ++i) {
      trial.options[i] = graph.profiles[graph.computations[i].profile].options[digits[i]];
    }
    if (iteration_time(graph, durations_of(trial)) <= time * (1 + 1e-12)) {
      best = std::min(best, energy_of_choice(graph, blocking, time, trial));
    }
    std::size_t at = 0;
    while (at < digits.size() && ++digits[at] == graph.profiles[graph.computations[at].profile].options.size()) {
      digits[at++] = 0;
    }
    if (at == digits.size()) {
      return best;
    }
  }
}

TEST(FrequencyChoice, IsTheExactOptimumOfSmallGraphs) {
  for (std::uint64_t number = 0; number < test::drawn(40U); ++number) {
    SCOPED_TRACE(number);
    Random random{81, number};
    const ComputationGraph graph = test::random_graph(
        random, {.most_computations = number < 4 ? 8u : 6u, .fewest_computations = 4, .most_options = 3});
    const Watts blocking{random.uniform(0, 100)};
    const Frontier frontier{graph, blocking};
    const FrequencyChooser chooser{graph, blocking};
    for (const double where : {0.0, 0.3, 0.7, 1.0}) {
      const Seconds time = frontier.fastest() + (frontier.slowest() - frontier.fastest()) * where;
      const FrequencyChoice choice = chooser.choose(frontier, time);
      EXPECT_NEAR(choice.energy / exact_optimum(graph, blocking, time), 1.0, 1e-9);
    }
  }
}

TEST(FrequencyChoice, EndsInTimeAndReportsTheEnergyOfItsOptions) {
  for (std::uint64_t number = 0; number < 60; ++number) {
    SCOPED_TRACE(number);
    Random random{82, number};
    const ComputationGraph graph = test::random_graph(random, {});
    const Watts blocking{random.uniform(0, 100)};
    const Frontier frontier{graph, blocking};
    const FrequencyChooser chooser{graph, blocking};
    const Seconds time = frontier.fastest() + (frontier.slowest() - frontier.fastest()) * (1.2 * random.uniform());
    const FrequencyChoice choice = chooser.choose(frontier, time);
    EXPECT_LE(choice.iteration_time.value(), time.value() * (1 + 1e-9));
    EXPECT_DOUBLE_EQ(choice.iteration_time.value(), iteration_time(graph, durations_of(choice)).value());
    EXPECT_NEAR(choice.energy / energy_of_choice(graph, blocking, time, choice), 1.0, 1e-9);
    EXPECT_GE(choice.energy.value(), choice.bound.value() * (1 - 1e-7));
    for (std::size_t i = 0; i < choice.options.size(); ++i) {
      const auto& options = graph.profiles[graph.computations[i].profile].options;
      EXPECT_NE(std::ranges::find(options, choice.options[i]), options.end()) << "an option that was never measured";
    }
  }
}

struct Losses {
  double median;
  double worst;
};

// What a choice among a GPU's frequencies loses against the continuous optimum at the same time, from the fastest
// iteration to that of least energy.
template <typename MakeGraph>
Losses losses_of(std::string_view subject, MakeGraph make_graph) {
  std::vector<double> losses;
  for (std::uint64_t number = 0; number < test::drawn(40U); ++number) {
    Random random{83, number};
    const ComputationGraph graph = make_graph(random);
    const Watts blocking{70};
    const Frontier frontier{graph, blocking};
    const FrequencyChooser chooser{graph, blocking};
    for (int k = 0; k < 4; ++k) {
      const Seconds time = frontier.fastest() + (frontier.least_energy() - frontier.fastest()) * (k / 3.0);
      const FrequencyChoice choice = chooser.choose(frontier, time);
      losses.push_back(choice.energy / choice.bound - 1.0);
    }
  }
  std::ranges::sort(losses);
  const Losses result{losses[losses.size() / 2], losses.back()};
  std::cout << fmt::format("{}: median loss {:.3f} %, worst {:.3f} % of {} plans\n", subject, 100 * result.median,
                           100 * result.worst, losses.size());
  return result;
}

// 1F1B with 30 to 60 computations and 12 to 20 frequencies.
ComputationGraph random_pipeline(Random& random, double noise) {
  const std::size_t stages = 2 + random.below(4);
  const std::size_t microbatches = 30 / (2 * stages) + 1 + random.below(30 / (2 * stages));
  const std::size_t frequencies = 12 + random.below(9);
  std::vector<StageProfile> profiles;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const char* instruction : {"forward", "backward"}) {
      StageProfile entry{stage, {instruction, {}}};
      const double work = random.uniform(0.9, 1.2) * (entry.profile.name == "forward" ? 0.04 : 0.08);
      for (std::size_t k = 0; k < frequencies; ++k) {
        const double clock = 1.0 - 0.56 * static_cast<double>(k) / static_cast<double>(frequencies - 1);
        const double time = work * (0.25 + 0.75 / clock) * random.normal(1.0, noise);
        const double power = (90 + 260 * clock * clock * clock) * random.normal(1.0, noise);
        entry.profile.options.push_back({Megahertz{1410 * clock}, Seconds{time}, Seconds{time} * Watts{power}});
      }
      profiles.push_back(entry);
    }
  }
  return make_schedule({.devices = stages, .microbatches = microbatches}, profiles);
}

TEST(FrequencyChoice, LosesLittleAgainstTheContinuousOptimumOfPipelines) {
  const Losses losses = losses_of("1F1B, smooth profiles", [](Random& random) { return random_pipeline(random, 0.0); });
  EXPECT_LE(losses.median, 0.003);
  EXPECT_LE(losses.worst, 0.015);
}

// Noise leaves a profile fewer useful frequencies, and random graphs have few computations to share the time that
// rounding leaves over. There even the best choice loses more (docs/pipeline.md). These bounds only keep it from
// getting worse.
TEST(FrequencyChoice, LosesMoreIfFrequenciesAreCoarse) {
  const Losses noisy = losses_of("1F1B, 2 % noise", [](Random& random) { return random_pipeline(random, 0.02); });
  EXPECT_LE(noisy.median, 0.008);
  EXPECT_LE(noisy.worst, 0.03);
  const Losses graphs = losses_of("random graphs, 1 % noise", [](Random& random) {
    return test::random_graph(random, {.most_computations = 60,
                                       .fewest_computations = 30,
                                       .most_options = 15,
                                       .fewest_options = 12,
                                       .noise = 0.01,
                                       .with_oddities = false});
  });
  EXPECT_LE(graphs.median, 0.005);
  EXPECT_LE(graphs.worst, 0.03);
}

ComputationGraph graph_of(std::vector<records::ComputationProfile> profiles) {
  ComputationGraph graph{.profiles = std::move(profiles)};
  for (std::size_t i = 0; i < graph.profiles.size(); ++i) {
    graph.computations.push_back({.name = fmt::format("c{}", i), .instruction = "c", .device = 0, .profile = i});
  }
  return graph;
}

FrequencyChoice looked_up(const ComputationGraph& graph, Seconds time) {
  return FrequencyChooser{graph, 0_W}.choose(Frontier{graph, 0_W}, time, Effort::lookup);
}

// One computation cannot be slowed down, and one next to it may take 2.5 s. 3 s are too long. 2 s save one joule of
// ten, so little that no mixture of the other options would use it.
TEST(FrequencyChoice, ALookupUsesSpareTimeEvenIfThatSavesLittle) {
  const ComputationGraph graph =
      graph_of({{"fixed", {{1400_MHz, 1_s, 1_J}}},
                {"slow", {{1400_MHz, 1_s, 10_J}, {1200_MHz, 2_s, 9_J}, {1000_MHz, 3_s, 1_J}}}});
  const FrequencyChoice choice = looked_up(graph, 2.5_s);
  EXPECT_EQ(choice.options[1].time, 2_s);
  EXPECT_EQ(choice.energy, 10_J);
}

// Three computations run concurrently after c0. Slowing down the three saves 4 W each, slowing down c0 alone 5 W: the
// largest single saving must not be taken.
TEST(FrequencyChoice, ALookupKeepsAPlanThatMeasuredFrequenciesReachExactly) {
  const records::ComputationProfile three{"three",
                                          {{1400_MHz, 1_s, 10_J}, {1200_MHz, 1.5_s, 8.1_J}, {1000_MHz, 2_s, 6_J}}};
  ComputationGraph graph = graph_of({{"one", {{1400_MHz, 1_s, 10_J}, {1200_MHz, 1.5_s, 7.5_J}}}, three, three, three});
  graph.dependencies = {{0, 1, 0_s}, {0, 2, 0_s}, {0, 3, 0_s}};
  EXPECT_EQ(looked_up(graph, 3_s).energy, 28_J);
}

// Computations in sequence, with 4 s to spare. The largest saving, 3.3 J for 3 s, leaves no room for either of the
// other two, 2.1 J for 2 s each, which together save more. The rest are too slow to be slowed down; with many of them,
// there are too many combinations to enumerate.
TEST(FrequencyChoice, AThoroughChoiceDropsOneLargeSavingForTwoThatSaveMore) {
  const records::ComputationProfile small{"small", {{1400_MHz, 1_s, 10_J}, {1000_MHz, 3_s, 7.9_J}}};
  const records::ComputationProfile large{"large", {{1400_MHz, 1_s, 10_J}, {1000_MHz, 4_s, 6.7_J}}};
  const records::ComputationProfile rest{"rest", {{1400_MHz, 1_s, 10_J}, {1000_MHz, 11_s, 9.9_J}}};
  for (const std::size_t count : {3U, 18U}) {
    std::vector<records::ComputationProfile> profiles(count, rest);
    profiles[0] = small;
    profiles[1] = small;
    profiles[2] = large;
    ComputationGraph graph = graph_of(profiles);
    for (std::size_t i = 1; i < count; ++i) {
      graph.dependencies.push_back({.from = i - 1, .to = i, .time = 0_s});
    }
    const auto fastest = static_cast<double>(count);
    const Seconds time{fastest + 4.0};
    EXPECT_NEAR(looked_up(graph, time).energy.value(), 10 * fastest - 3.3, 1e-9) << count;
    const FrequencyChoice choice = FrequencyChooser{graph, 0_W}.choose(Frontier{graph, 0_W}, time);
    EXPECT_NEAR(choice.energy.value(), 10 * fastest - 4.2, 1e-9) << count;
  }
}

TEST(FrequencyChoice, ALookupEndsInTimeAndCostsLittleMore) {
  for (std::uint64_t number = 0; number < 30; ++number) {
    Random random{84, number};
    const ComputationGraph graph = random_pipeline(random, 0.01);
    const Frontier frontier{graph, 70_W};
    const FrequencyChooser chooser{graph, 70_W};
    const Seconds time = frontier.fastest() + (frontier.slowest() - frontier.fastest()) * (1.1 * random.uniform());
    const FrequencyChoice choice = chooser.choose(frontier, time, Effort::lookup);
    EXPECT_LE(choice.iteration_time.value(), time.value() * (1 + 1e-9));
    EXPECT_LE(choice.energy / choice.bound, 1.03);
  }
}

}  // namespace
}  // namespace zeus::optimize::pipeline
