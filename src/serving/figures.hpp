// From what was sent, received and measured to the figures that are shown. Pure functions; any thread.
#pragma once

#include "serving/answer.hpp"
#include "serving/bench_result.hpp"
#include "serving/tallies.hpp"

#include <span>

namespace zeus::serving {

// `began`: the moment that the steady part's beginning counts from.
SteadyFigures steady_figures(std::span<const Slice> slices, std::span<const Answer> answers, Instant began);

AnswerCounts answer_counts(std::span<const Answer> answers, bool at_a_rate);

}  // namespace zeus::serving
