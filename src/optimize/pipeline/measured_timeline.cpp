#include "optimize/pipeline/measured_timeline.hpp"

#include "optimize/pipeline/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace zeus::optimize::pipeline {

namespace {

using records::MeasuredComputation;

Seconds end_of(const MeasuredComputation& computation) {
  return computation.start + computation.duration;
}

// Finds what each computation may have waited for.
class Waits {
 public:
  explicit Waits(const std::vector<MeasuredComputation>& all) : all_{all}, before_(all.size()) {
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      order[i] = i;
      if (all[i].instruction == "forward" || is_gradient(all[i].instruction)) {
        places_[{all[i].stage, all[i].microbatch, is_gradient(all[i].instruction)}] = i;
      }
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i].start; });
    std::map<std::uint32_t, std::size_t> last;
    for (const std::size_t i : order) {
      if (const auto known = last.find(all[i].rank); known != last.end()) {
        before_[i] = known->second;
      }
      last[all[i].rank] = i;
    }
  }

  // Always one that began earlier, so that chains end.
  [[nodiscard]] std::optional<std::size_t> waited_for(std::size_t i) const {
    std::optional<std::size_t> best = before_[i];
    const MeasuredComputation& computation = all_[i];
    const bool is_backward = is_gradient(computation.instruction);
    if (is_backward || (computation.instruction == "forward" && computation.stage > 0)) {
      const auto neighbour = places_.find(
          {is_backward ? computation.stage + 1 : computation.stage - 1, computation.microbatch, is_backward});
      if (neighbour != places_.end() && all_[neighbour->second].start < computation.start &&
          (!best || end_of(all_[neighbour->second]) > end_of(all_[*best]))) {
        best = neighbour->second;
      }
    }
    return best;
  }

 private:
  const std::vector<MeasuredComputation>& all_;
  std::vector<std::optional<std::size_t>> before_;                                // on the same rank
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::size_t> places_;  // forwards and gradients
};

}  // namespace

records::Timeline timeline_of(const records::MeasuredIteration& iteration) {
  records::Timeline timeline{
      .time = iteration.time, .energy = iteration.energy, .bound = {}, .boxes = {}, .critical = {}};
  const std::vector<MeasuredComputation>& all = iteration.computations;
  for (const MeasuredComputation& computation : all) {
    timeline.boxes.push_back(
        {.name = fmt::format("{} {}.{}", computation.instruction, computation.stage, computation.microbatch),
         .device = computation.rank,
         .start = computation.start,
         .duration = computation.duration,
         .frequency = computation.frequency,
         .power = computation.power});
  }
  if (all.empty()) {
    return timeline;
  }
  const Waits waits{all};
  std::optional<std::size_t> at = static_cast<std::size_t>(std::ranges::max_element(all, {}, end_of) - all.begin());
  for (; at; at = waits.waited_for(*at)) {
    timeline.critical.push_back(*at);
  }
  std::ranges::reverse(timeline.critical);
  return timeline;
}

}  // namespace zeus::optimize::pipeline
