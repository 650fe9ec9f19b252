#include "toml/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace zeus::toml {

namespace {

char plain(char letter) {
  if (letter == '-') {
    return '_';
  }
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Edit distance: the letters to insert, delete or replace to turn one word into the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t line = 1; line <= from.size(); ++line) {
    std::size_t diagonal = std::exchange(row[0], line);
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const std::size_t replaced = diagonal + (plain(from[line - 1]) == plain(to[column - 1]) ? 0 : 1);
      diagonal = std::exchange(row[column], std::min({replaced, row[column] + 1, row[column - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t longest = 64;
  std::optional<std::string> best;
  std::size_t least = longest;
  for (const std::string& one : known) {
    const std::size_t away = word.size() > longest ? longest : distance(word, one);
    if (away < least && away * 3 <= std::max(one.size(), std::size_t{3})) {
      best = one;
      least = away;
    }
  }
  return best;
}

}  // namespace zeus::toml
