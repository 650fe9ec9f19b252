// Plans carried out on the virtual GPUs' physics: does an iteration take the time and save the energy that the plan
// claims when profiles are noisy, clocks change late and in steps, and chips warm up?
#include "base/random.hpp"
#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "optimize/pipeline/margin.hpp"
#include "optimize/pipeline/profile_fit.hpp"
#include "optimize/pipeline/schedule.hpp"
#include "optimize/pipeline/timeline.hpp"
#include "optimize/pipeline/topology.hpp"
#include "physics/operating_point.hpp"
#include "tests/support/population.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::optimize::pipeline {
namespace {

struct Disturbances {
  double profile_noise = 0.0;  // relative, of each measured time and energy
  Seconds least_delay;         // between requesting a clock and getting it
  Seconds most_delay;
  bool quantized = false;  // the GPU only has multiples of its step
  bool warming = false;    // chips start cold and are profiled warm
};

constexpr std::size_t stages = 4;
constexpr std::size_t microbatches = 8;
constexpr Celsius warm{65};

// The true values of one stage's forward or backward.
struct Work {
  Seconds time;  // at the highest clock
  physics::Demand demand;
};

class Cluster {
 public:
  Cluster(std::uint64_t seed, const Disturbances& disturbances)
      : model_{physics::preset("A100")}, disturbances_{disturbances}, random_{seed} {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      // Unequal by 10 to 30 %: the largest stage against the smallest.
      const double size = 1.0 + 0.1 * static_cast<double>(stage) * random_.uniform(0.34, 1.0);
      for (const double share : {1.0, 2.0}) {
        work_.push_back({Seconds{0.25 * share * size}, physics::Demand::of_work(1.0, 0.9, 0.25)});
      }
    }
    temperatures_.assign(stages, disturbances.warming ? Celsius{40} : warm);
  }

  [[nodiscard]] Watts blocking() const { return model_.power.waiting; }

  // As a profiler would measure it, on a warm GPU.
  std::vector<StageProfile> profile() {
    std::vector<StageProfile> profiles;
    for (std::size_t k = 0; k < work_.size(); ++k) {
      StageProfile entry{k / 2, {k % 2 == 0 ? "forward" : "backward", {}}};
      for (int i = 0; i < 15; ++i) {
        const Megahertz clock = available(model_.clocks.max * (1.0 - 0.04 * i));
        const physics::OperatingPoint point = settled(clock, work_[k].demand, warm);
        const Seconds time = work_[k].time / point.speed;
        entry.profile.options.push_back({clock, time * random_.normal(1.0, disturbances_.profile_noise),
                                         point.power * time * random_.normal(1.0, disturbances_.profile_noise)});
      }
      profiles.push_back(entry);
    }
    return profiles;
  }

  struct Outcome {
    Seconds time;
    Joules energy;
  };

  // The mean of ten iterations under the plan, one after another. A faster clock is requested early enough to be in
  // time, a slower one when the computation begins, so a change never delays a computation.
  Outcome run(const records::ComputationGraph& graph, std::span<const records::FrequencyOption> options) {
    constexpr int iterations = 10;
    Outcome sum{Seconds{0}, Joules{0}};
    for (int i = 0; i < iterations; ++i) {
      const Outcome one = run_once(graph, options);
      sum.time += one.time;
      sum.energy += one.energy;
    }
    return {sum.time / iterations, sum.energy / iterations};
  }

 private:
  [[nodiscard]] Megahertz available(Megahertz clock) const {
    if (!disturbances_.quantized) {
      return clock;
    }
    return model_.clocks.step * std::round(clock / model_.clocks.step);
  }

  [[nodiscard]] physics::OperatingPoint settled(Megahertz clock, const physics::Demand& demand,
                                                Celsius temperature) const {
    physics::Controls controls = physics::Controls::defaults(model_);
    controls.requested_limit = model_.limits.max;
    controls.clocks_locked = true;
    controls.lock_min = clock;
    controls.lock_max = clock;
    return physics::settle(model_, controls, demand, temperature);
  }

  Outcome run_once(const records::ComputationGraph& graph, std::span<const records::FrequencyOption> options) {
    std::vector<Seconds> ends(graph.computations.size());
    std::vector<std::size_t> previous(stages, graph.computations.size());
    std::vector<Joules> energies(stages, Joules{0});
    std::vector<Seconds> busy(stages, Seconds{0});
    for (const std::size_t i : topological_order(graph)) {
      const std::size_t device = graph.computations[i].device;
      Seconds start{0};
      for (const records::Dependency& edge : graph.dependencies) {
        if (edge.to == i) {
          start = std::max(start, ends[edge.from] + edge.time);
        }
      }
      const std::size_t before = previous[device];
      const Megahertz clock = options[i].frequency;
      const Megahertz old = before < options.size() ? options[before].frequency : clock;
      Seconds late{0};
      if (disturbances_.most_delay > Seconds{0} && clock != old) {
        const Seconds delay =
            disturbances_.least_delay + (disturbances_.most_delay - disturbances_.least_delay) * random_.uniform();
        if (clock < old) {
          late = delay;
        } else {
          // Early by the longest possible delay: the end of the previous computation runs at the faster clock.
          const Seconds idle = start - ends[before];
          const Seconds early = std::max(disturbances_.most_delay - delay - idle, Seconds{0});
          const Watts rise = power(before, clock, graph, device) - power(before, old, graph, device);
          energies[device] += rise * early;
        }
      }
      const physics::Demand& demand = work_[graph.computations[i].profile].demand;
      const physics::OperatingPoint fast = settled(old, demand, temperatures_[device]);
      const physics::OperatingPoint own = settled(clock, demand, temperatures_[device]);
      const Seconds work = work_[graph.computations[i].profile].time;
      const Seconds at_old = std::min(late, work / fast.speed);
      const Seconds at_own = (work - at_old * fast.speed) / own.speed;
      energies[device] += fast.power * at_old + own.power * at_own;
      busy[device] += at_old + at_own;
      ends[i] = start + at_old + at_own;
      previous[device] = i;
    }
    const Seconds time = *std::ranges::max_element(ends);
    Outcome outcome{time, Joules{0}};
    for (std::size_t device = 0; device < stages; ++device) {
      energies[device] += blocking() * (time - busy[device]);
      outcome.energy += energies[device];
      warm_up(device, energies[device] / time, time);
    }
    return outcome;
  }

  [[nodiscard]] Watts power(std::size_t computation, Megahertz clock, const records::ComputationGraph& graph,
                            std::size_t device) const {
    return settled(clock, work_[graph.computations[computation].profile].demand, temperatures_[device]).power;
  }

  void warm_up(std::size_t device, Watts mean, Seconds time) {
    if (disturbances_.warming) {
      const Celsius goal = model_.thermal.ambient + Kelvins{mean.value() * model_.thermal.kelvins_per_watt};
      const double share = 1.0 - std::exp(-(time / model_.thermal.time_constant));
      temperatures_[device] = temperatures_[device] + (goal - temperatures_[device]) * share;
    }
  }

  const physics::GpuModel& model_;
  Disturbances disturbances_;
  Random random_;
  std::vector<Work> work_;  // forward and backward of each stage, in the order of the profiles
  std::vector<Celsius> temperatures_;
};

struct Comparison {
  double claimed;  // share of all-fastest energy
  double saved;
  double slower;  // relative to all-fastest
};

Comparison compare(std::uint64_t seed, const Disturbances& disturbances, double margin, ProfileFit fit) {
  Cluster profiled{seed, disturbances};
  const Watts blocking = profiled.blocking();
  const records::ComputationGraph graph = with_margin(
      with_fit(make_schedule({.devices = stages, .microbatches = microbatches}, profiled.profile()), fit, blocking),
      margin, blocking);
  const Frontier frontier{graph, blocking};
  const Seconds time = frontier.fastest();
  const FrequencyChoice plan = FrequencyChooser{graph, blocking}.choose(frontier, time);
  // The truly fastest clock; noise may make another one look faster.
  std::vector<records::FrequencyOption> fastest;
  for (const records::Computation& computation : graph.computations) {
    fastest.push_back(graph.profiles[computation.profile].options.front());
  }
  const Joules claimed_fastest = timeline_of(graph, fastest, time, blocking).energy;
  Cluster twin = profiled;
  const Cluster::Outcome before = profiled.run(graph, fastest);
  const Cluster::Outcome after = twin.run(graph, plan.options);
  return {.claimed = 1.0 - plan.energy / claimed_fastest,
          .saved = 1.0 - after.energy / before.energy,
          .slower = after.time / before.time - 1.0};
}

struct Summary {
  double worst_difference = 0.0;
  double mean_slowdown = 0.0;
  double worst_slowdown = 0.0;
};

Summary summarize(std::string_view name, const Disturbances& disturbances, double margin = 0.0,
                  ProfileFit fit = ProfileFit::none) {
  constexpr std::uint64_t seeds = test::drawn(12);
  Summary summary;
  double claimed = 0.0;
  double saved = 0.0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Comparison one = compare(seed, disturbances, margin, fit);
    claimed += one.claimed / seeds;
    saved += one.saved / seeds;
    summary.mean_slowdown += one.slower / seeds;
    summary.worst_difference = std::max(summary.worst_difference, std::abs(one.claimed - one.saved));
    summary.worst_slowdown = std::max(summary.worst_slowdown, one.slower);
  }
  std::cout << fmt::format(
      "{:<22} claimed {:5.2f} %, saved {:5.2f} % (worst difference {:.2f} points), slower by {:.2f} % (worst {:.2f} "
      "%)\n",
      name, 100 * claimed, 100 * saved, 100 * summary.worst_difference, 100 * summary.mean_slowdown,
      100 * summary.worst_slowdown);
  return summary;
}

TEST(PipelinePhysics, EachDisturbanceCostsWhatTheDocumentationSays) {
  const Disturbances everything{
      .profile_noise = 0.02, .least_delay = 5_ms, .most_delay = 50_ms, .quantized = true, .warming = true};
  const Summary undisturbed = summarize("undisturbed", {});
  EXPECT_LE(undisturbed.worst_difference, 1e-6);
  EXPECT_LE(undisturbed.worst_slowdown, 1e-6);
  summarize("quantized clocks", {.quantized = true});
  summarize("warming up", {.warming = true});
  const Summary late = summarize("late clocks", {.least_delay = 5_ms, .most_delay = 50_ms});
  EXPECT_LE(late.worst_slowdown, 1e-6);
  summarize("profile noise", {.profile_noise = 0.02});
  summarize("noise, 5 % margin", {.profile_noise = 0.02}, 0.05);
  summarize("noise, exponential", {.profile_noise = 0.02}, 0.0, ProfileFit::exponential);
  summarize("noise, smooth", {.profile_noise = 0.02}, 0.0, ProfileFit::smooth);
  const Summary curved = summarize("nothing, but smooth", {}, 0.0, ProfileFit::smooth);
  EXPECT_LE(curved.worst_difference, 0.002);
  EXPECT_LE(curved.worst_slowdown, 0.001);
  const Summary all = summarize("all of them", everything);
  EXPECT_LE(all.worst_difference, 0.03);
  const Summary spared = summarize("all, 5 % margin", everything, 0.05);
  EXPECT_LE(spared.worst_difference, 0.02);
  EXPECT_LE(spared.mean_slowdown, 0.005);
  EXPECT_LE(spared.worst_slowdown, 0.01);
  const Summary smoothed = summarize("all, smooth", everything, 0.0, ProfileFit::smooth);
  EXPECT_LE(smoothed.worst_difference, 0.02);
  EXPECT_LE(smoothed.mean_slowdown, 0.005);
  EXPECT_LE(smoothed.worst_slowdown, 0.01);
  const Summary careful = summarize("all, smooth, 2 % margin", everything, 0.02, ProfileFit::smooth);
  EXPECT_LE(careful.worst_difference, 0.02);
  EXPECT_LE(careful.mean_slowdown, 0.005);
}

}  // namespace
}  // namespace zeus::optimize::pipeline
