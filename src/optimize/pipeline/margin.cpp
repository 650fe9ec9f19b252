#include "optimize/pipeline/margin.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::optimize::pipeline {

records::ComputationGraph with_margin(records::ComputationGraph graph, double share, Watts blocking_power) {
  if (!(share >= 0.0 && share <= 1.0)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the margin is {}", share), "give a share from 0 to 1"};
  }
  for (records::ComputationProfile& profile : graph.profiles) {
    if (profile.options.empty()) {
      continue;
    }
    const Megahertz highest =
        std::ranges::max_element(profile.options, {}, &records::FrequencyOption::frequency)->frequency;
    for (records::FrequencyOption& option : profile.options) {
      if (option.frequency < highest) {
        const Seconds spare = option.time * share;
        option.time += spare;
        option.energy += blocking_power * spare;
      }
    }
  }
  return graph;
}

}  // namespace zeus::optimize::pipeline
