#include "command_line/near_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace zeus::command_line {

namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t shortest_beginning = 3;

// How many letters must be added, removed, changed or swapped with a neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

}  // namespace

std::optional<std::string> near_word(std::string_view word, std::span<const std::string> known) {
  if (word.size() > longest_word) {
    return std::nullopt;
  }
  std::optional<std::string> nearest;
  // A third of the letters may be wrong, but not nearly all of a short word.
  std::size_t least = std::min<std::size_t>(3, (word.size() + 1) / 3) + 1;
  for (const std::string& candidate : known) {
    const bool begun = word.size() >= shortest_beginning && candidate.starts_with(word);
    const std::size_t steps = begun ? 1 : distance(word, candidate);
    if (steps < least) {
      least = steps;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace zeus::command_line
