// A run in slices of time: what each took and what was delivered in it. Pure functions; any thread.
#pragma once

#include "base/clock.hpp"
#include "serving/answer.hpp"

#include <zeus/measure.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::serving {

// Slices follow one another and do not overlap.
struct Slice {
  Instant begin = {};
  Instant end = {};
  MeasuredEnergy energy = {};  // of all GPUs that are measured

  [[nodiscard]] Seconds time() const { return end - begin; }
};

// How many tokens the pieces of each answer stand for. A server counts an answer as a whole, so each of its pieces is
// the same share of it. The pieces of a failed answer without a count are as long as those of the others on average.
struct TokenCounts {
  std::vector<double> per_piece;  // by answer
  std::string why_unknown;        // empty if they are known
};
TokenCounts token_counts(std::span<const Answer> answers);

// What was delivered in a slice. An answer across an edge counts as the part of its pieces on either side; one without
// pieces, whose tokens the server counts and does not stream, when it ends.
struct Tally {
  Seconds time = {};
  std::optional<Joules> energy = {};
  double pieces = 0;
  double tokens = 0;
  double answers = 0;    // whole ones
  double in_flight = 0;  // on average
};
std::vector<Tally> tallies_of(std::span<const Slice> slices, std::span<const Answer> answers,
                              const TokenCounts& counts);

// The slice that a moment lies in; nothing if it lies in none.
std::optional<std::size_t> slice_at(std::span<const Slice> slices, Instant moment);

}  // namespace zeus::serving
