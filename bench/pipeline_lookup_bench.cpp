// The cost of looking up a plan in a stored frontier, as for a straggler. The reference is solving again.

#include "base/random.hpp"
#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "optimize/pipeline/schedule.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

namespace {

using namespace zeus::optimize::pipeline;

constexpr zeus::Watts blocking{70};

struct Pipeline {
  zeus::records::ComputationGraph graph;
  std::unique_ptr<Frontier> frontier;
  std::unique_ptr<FrequencyChooser> chooser;
};

zeus::records::ComputationGraph graph_of(std::size_t stages, std::size_t microbatches) {
  zeus::Random random{1};
  std::vector<StageProfile> profiles;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const char* instruction : {"forward", "backward"}) {
      StageProfile profile{stage, {instruction, {}}};
      const double work = random.uniform(0.035, 0.045) * (profile.profile.name == "backward" ? 2 : 1);
      for (int k = 0; k < 15; ++k) {
        const double clock = 1.0 - 0.04 * k;
        const double time = work * (0.25 + 0.75 / clock) * random.normal(1.0, 0.02);
        const double energy = time * (90 + 260 * clock * clock * clock) * random.normal(1.0, 0.02);
        profile.profile.options.push_back({zeus::Megahertz{1410 * clock}, zeus::Seconds{time}, zeus::Joules{energy}});
      }
      profiles.push_back(profile);
    }
  }
  return make_schedule({.devices = stages, .microbatches = microbatches}, profiles);
}

const Pipeline& pipeline(std::size_t stages, std::size_t microbatches) {
  static std::vector<std::pair<std::size_t, Pipeline>> made;
  for (const auto& [key, value] : made) {
    if (key == stages * microbatches) {
      return value;
    }
  }
  Pipeline fresh{.graph = graph_of(stages, microbatches), .frontier = nullptr, .chooser = nullptr};
  fresh.frontier = std::make_unique<Frontier>(fresh.graph, blocking);
  fresh.chooser = std::make_unique<FrequencyChooser>(fresh.graph, blocking);
  made.emplace_back(stages * microbatches, std::move(fresh));
  return made.back().second;
}

zeus::Seconds next_time(const Frontier& frontier, zeus::Random& random) {
  return frontier.fastest() + (frontier.slowest() - frontier.fastest()) * random.uniform();
}

void plan_lookup(benchmark::State& state) {
  const Pipeline& subject =
      pipeline(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::vector<zeus::Seconds> durations(subject.frontier->computations());
  zeus::Random random{2};
  for ([[maybe_unused]] auto _ : state) {
    subject.frontier->durations_at(next_time(*subject.frontier, random), durations);
    benchmark::DoNotOptimize(durations.data());
  }
}
BENCHMARK(plan_lookup)->Name("durations_4x8")->Args({4, 8});
BENCHMARK(plan_lookup)->Name("durations_8x128")->Args({8, 128});
BENCHMARK(plan_lookup)->Name("durations_16x512")->Args({16, 512});

void frequencies(benchmark::State& state) {
  const Pipeline& subject =
      pipeline(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  zeus::Random random{3};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(
        subject.chooser->choose(*subject.frontier, next_time(*subject.frontier, random), Effort::lookup));
  }
}
BENCHMARK(frequencies)->Name("straggler_4x8/ours")->Args({4, 8});
BENCHMARK(frequencies)->Name("straggler_8x128/ours")->Args({8, 128});

void solving(benchmark::State& state) {
  const Pipeline& subject =
      pipeline(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(Frontier{subject.graph, blocking});
  }
}
BENCHMARK(solving)->Name("straggler_4x8/yardstick")->Args({4, 8});
BENCHMARK(solving)->Name("straggler_8x128/yardstick")->Args({8, 128});

}  // namespace
