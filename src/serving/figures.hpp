// From what was sent, received and measured to the figures that are shown. Pure functions; any thread.
#pragma once

#include "serving/answer.hpp"
#include "serving/bench_result.hpp"
#include "serving/tallies.hpp"

#include <zeus/units.hpp>

#include <span>
#include <vector>

namespace zeus::serving {

// `began`: the moment that the steady part's beginning counts from.
SteadyFigures steady_figures(std::span<const Slice> slices, std::span<const Answer> answers, Instant began);

// Of each answer, the times between its pieces that belong to the steady part; none if there is no such part.
std::vector<std::vector<Seconds>> steady_gaps(std::span<const Slice> slices, std::span<const Answer> answers);

AnswerCounts answer_counts(std::span<const Answer> answers, bool at_a_rate);

}  // namespace zeus::serving
