// When a run was in steady state, by a rule that docs/llm.md states. Pure functions; any thread.
#pragma once

#include "serving/answer.hpp"
#include "serving/tallies.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace zeus::serving {

struct SteadyWindow {
  std::size_t first = 0;  // of the slices
  std::size_t count = 0;
  std::string why_not = {};  // the reason why there is none; empty if there is one

  [[nodiscard]] bool is_there() const { return why_not.empty(); }
};

// From when every request that was sent before the first whole answer ended has ended, until the last request is sent.
// Then tenths are dropped from the beginning until neither pieces of text, power nor requests in flight differ between
// its first half or tenth and the rest. At most half of it is dropped.
SteadyWindow steady_window(std::span<const Slice> slices, std::span<const Tally> tallies,
                           std::span<const Answer> answers);

// The slices of a window, in groups that follow one another: so many as intervals are made of. At least two slices.
struct Batch {
  std::size_t first = 0;
  std::size_t count = 0;
};
std::vector<Batch> batches_of(const SteadyWindow& window, std::size_t most);

}  // namespace zeus::serving
