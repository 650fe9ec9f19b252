#include "optimize/pipeline/timeline.hpp"

#include "optimize/pipeline/topology.hpp"
#include "optimize/pipeline/trade_off.hpp"

#include <algorithm>
#include <limits>

namespace zeus::optimize::pipeline {

namespace {

constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

// For each computation, the one whose end and communication it waits for; nothing for those that start at once.
std::vector<std::size_t> waited_for(const records::ComputationGraph& graph, std::span<const Seconds> starts,
                                    std::span<const records::FrequencyOption> options) {
  std::vector<std::size_t> before(starts.size(), nothing);
  std::vector<Seconds> latest(starts.size(), Seconds{-1});
  for (const records::Dependency& edge : graph.dependencies) {
    const Seconds ready = starts[edge.from] + options[edge.from].time + edge.time;
    if (ready > latest[edge.to]) {
      latest[edge.to] = ready;
      before[edge.to] = edge.from;
    }
  }
  return before;
}

}  // namespace

records::Timeline timeline_of(const records::ComputationGraph& graph, std::span<const records::FrequencyOption> options,
                              Seconds time, Watts blocking_power) {
  std::vector<Seconds> durations;
  Joules energy = blocking_power * static_cast<double>(graph.devices) * time;
  for (const records::FrequencyOption& option : options) {
    durations.push_back(option.time);
    energy += cost_of(option, blocking_power);
  }
  const std::vector<Seconds> starts = earliest_starts(graph, durations);
  records::Timeline timeline{
      .time = time, .energy = energy * static_cast<double>(graph.copies), .bound = {}, .boxes = {}, .critical = {}};
  std::size_t last = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    timeline.boxes.push_back({.name = graph.computations[i].name,
                              .device = graph.computations[i].device,
                              .start = starts[i],
                              .duration = durations[i],
                              .frequency = options[i].frequency,
                              .power = durations[i] > Seconds{0} ? options[i].energy / durations[i] : Watts{0}});
    if (starts[i] + durations[i] > starts[last] + durations[last]) {
      last = i;
    }
  }
  const std::vector<std::size_t> before = waited_for(graph, starts, options);
  for (std::size_t at = last; at != nothing; at = before[at]) {
    timeline.critical.push_back(at);
  }
  std::ranges::reverse(timeline.critical);
  return timeline;
}

std::vector<records::FrequencyOption> fastest_options(const records::ComputationGraph& graph, Watts blocking_power) {
  std::vector<records::FrequencyOption> by_profile;
  for (const records::ComputationProfile& profile : graph.profiles) {
    by_profile.push_back(efficient_options(profile, blocking_power).front());
  }
  std::vector<records::FrequencyOption> options;
  for (const records::Computation& computation : graph.computations) {
    options.push_back(by_profile[computation.profile]);
  }
  return options;
}

}  // namespace zeus::optimize::pipeline
