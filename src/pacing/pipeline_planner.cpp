// Plans the clocks of a pipeline from what its ranks have measured and were seen to run.
#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "optimize/pipeline/profile_fit.hpp"
#include "optimize/pipeline/schedule.hpp"
#include "optimize/pipeline/stage_profile.hpp"
#include "optimize/pipeline/timeline.hpp"
#include "optimize/pipeline/topology.hpp"
#include "records/computation_graph.hpp"

#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zeus {

namespace {

using optimize::pipeline::ObservedStep;
using optimize::pipeline::StageProfile;

Error refusal_of(std::size_t rank, const std::string& why) {
  return {ErrorKind::invalid_argument, fmt::format("rank {}: {}", rank, why)};
}

// The measurements of each stage's instruction. A stage is on one rank alone.
std::vector<StageProfile> profiles_of(const std::vector<PipelineRank>& ranks) {
  std::map<std::pair<int, std::string>, std::pair<std::size_t, records::ComputationProfile>> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const PipelineMeasurement& one : ranks[rank].measurements) {
      const double time = one.time.value();
      const double energy = one.energy.value();
      if (one.stage < 0 || !(std::isfinite(time) && time > 0) || !(std::isfinite(energy) && energy >= 0)) {
        throw refusal_of(rank, fmt::format("'{}' of stage {} takes {} s and {} J at {} MHz, which makes no sense",
                                           one.instruction, one.stage, time, energy, one.frequency.value()));
      }
      const std::string name = fmt::format("{} of stage {}", one.instruction, one.stage);
      auto& [owner, profile] =
          found.try_emplace({one.stage, one.instruction}, rank, records::ComputationProfile{one.instruction, {}})
              .first->second;
      if (owner != rank) {
        throw refusal_of(rank, fmt::format("it has measured {}, as rank {} has", name, owner));
      }
      profile.options.push_back({.frequency = one.frequency, .time = one.time, .energy = one.energy});
    }
  }
  std::vector<StageProfile> profiles;
  for (auto& [key, entry] : found) {
    profiles.push_back({.stage = static_cast<std::size_t>(key.first), .profile = std::move(entry.second)});
  }
  return profiles;
}

std::vector<std::vector<ObservedStep>> steps_of(const std::vector<PipelineRank>& ranks) {
  std::vector<std::vector<ObservedStep>> all(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].steps.empty()) {
      throw refusal_of(rank, "it runs nothing in an iteration");
    }
    for (const PipelineStep& step : ranks[rank].steps) {
      if (step.stage < 0 || step.microbatch < 0) {
        throw refusal_of(rank, fmt::format("it runs '{}' of stage {} and micro-batch {}", step.instruction, step.stage,
                                           step.microbatch));
      }
      all[rank].push_back({.instruction = step.instruction,
                           .stage = static_cast<std::size_t>(step.stage),
                           .microbatch = static_cast<std::size_t>(step.microbatch)});
    }
  }
  return all;
}

void check_plan_options(const std::vector<PipelineRank>& ranks, const PipelinePlanOptions& options) {
  if (ranks.empty()) {
    throw Error{ErrorKind::invalid_argument, "a pipeline has at least one rank"};
  }
  const double power = options.blocking_power.value();
  if (!(std::isfinite(power) && power >= 0) || options.copies < 1 ||
      !(std::isfinite(options.max_slowdown) && options.max_slowdown >= 1.0)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("a plan for {} copies, a slowdown of {} and a blocking power of {} W is not possible",
                            options.copies, options.max_slowdown, power),
                "give at least 1 copy, a slowdown from 1, and a power from 0"};
  }
}

}  // namespace

PlannedPipeline plan_pipeline(const std::vector<PipelineRank>& ranks, const PipelinePlanOptions& options) {
  using namespace optimize::pipeline;  // NOLINT(google-build-using-namespace)
  check_plan_options(ranks, options);
  records::ComputationGraph graph =
      observed_schedule(steps_of(ranks), static_cast<std::size_t>(options.copies), profiles_of(ranks));
  check(graph);
  // Curves through the measurements, for among noisy points the luckiest look best.
  graph = with_fit(std::move(graph), ProfileFit::smooth, options.blocking_power);
  const Frontier frontier{graph, options.blocking_power};
  const FrequencyChooser chooser{graph, options.blocking_power};
  PlannedPipeline planned;
  planned.fastest_time = frontier.fastest();
  planned.fastest_energy =
      timeline_of(graph, fastest_options(graph, options.blocking_power), frontier.fastest(), options.blocking_power)
          .energy;
  // A still slower iteration would only take more energy.
  planned.time = std::min(options.max_slowdown * frontier.fastest(), frontier.least_energy());
  const FrequencyChoice choice = chooser.choose(frontier, planned.time);
  planned.energy = choice.energy;
  planned.ranks.resize(ranks.size());
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    const records::Computation& computation = graph.computations[i];
    planned.ranks[computation.device].push_back(
        {.name = computation.instruction, .frequency = choice.options[i].frequency});
  }
  return planned;
}

}  // namespace zeus
