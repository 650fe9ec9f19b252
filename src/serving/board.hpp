// Results of several runs side by side: which of them no other beats in both energy and latency, a page, and a
// comparison of two. Pure functions; any thread.
#pragma once

#include "serving/bench_result.hpp"
#include "serving/votes.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

struct BoardEntry {
  std::string name;  // of the file
  BenchResult result;
};

// "8 in flight", "2.5 a second"
std::string load_text(const BenchResult& result);
// "2 x NVIDIA A100-SXM4-40GB"
std::string gpus_text(const BenchResult& result);

// The places of the model's results that no other result of that model beats: none takes less energy for a token and
// less time between tokens (at the median). By that time, ascending. Results without both are not among them.
std::vector<std::size_t> frontier(std::span<const BoardEntry> entries, std::string_view model);

// A whole HTML page: a chart for each model, a table that its reader can sort, and what was voted in arenas.
std::string board_page(std::span<const BoardEntry> entries, std::span<const VoteCounts> votes);

// One figure of two results.
struct ComparedFigure {
  std::string key;   // as in the JSON of a result
  std::string what;  // for people
  std::optional<Figure> first = {};
  std::optional<Figure> second = {};
  std::optional<Figure> change = {};  // of the second against the first: 0.1 is 10 % more
  std::string why_unknown = {};

  [[nodiscard]] bool is_clear() const;  // 0 is outside the interval
};

struct Comparison {
  std::vector<ComparedFigure> figures;
  std::vector<std::string> differences;  // of the settings: what the change may come from besides
};
Comparison compare(const BenchResult& first, const BenchResult& second);

}  // namespace zeus::serving
