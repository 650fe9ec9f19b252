// From what was sent, received and measured to the figures that are shown. Pure functions; any thread.
#pragma once

#include "serving/answer.hpp"
#include "serving/bench_result.hpp"
#include "serving/estimates.hpp"
#include "serving/latency_bound.hpp"
#include "serving/tallies.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace zeus::serving {

// `began`: the moment that the steady part's beginning counts from.
SteadyFigures steady_figures(std::span<const Slice> slices, std::span<const Answer> answers, Instant began);

// Of each answer, the times between its pieces that belong to the steady part; none if there is no such part.
std::vector<std::vector<Seconds>> steady_gaps(std::span<const Slice> slices, std::span<const Answer> answers);

// Longer than any time.
inline constexpr Seconds never{std::numeric_limits<double>::max()};

// The percentile that a bound is about, in the steady part; nothing if there is none.
struct BoundedTime {
  LatencyBound bound = {};
  std::optional<TimePercentile> found = {};
  std::uint64_t sent = 0;    // requests of the runs that it was found in
  std::uint64_t failed = 0;  // of these
};

// The percentiles that bounds are about, of all runs under one setting together. A failed request counts as one that
// never ends, and the times between those of its pieces that did not come as well. It counts from when it was due.
class BoundedTimes {
 public:
  explicit BoundedTimes(std::vector<LatencyBound> bounds) : bounds_{std::move(bounds)}, values_(bounds_.size()) {}

  // A run's steady part, if it has one.
  void add(std::span<const Slice> slices, std::span<const Answer> answers);
  [[nodiscard]] std::vector<BoundedTime> found() const;

 private:
  std::vector<LatencyBound> bounds_;
  std::vector<std::vector<PartValue>> values_;  // by bound
  std::size_t parts_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t failed_ = 0;
};

AnswerCounts answer_counts(std::span<const Answer> answers, bool at_a_rate);

}  // namespace zeus::serving
