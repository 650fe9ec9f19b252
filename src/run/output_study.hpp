// Studies the output of a training command for `zeus init`, and proposes regular expressions that find its progress.
// The words before a number name its series. Among these series it looks for the metric, the epochs and the steps.
// Pure; one thread.
#pragma once

#include "run/line_splitter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

// A regular expression, and what it matches in the output.
struct ProposedExpression {
  std::string text;
  std::uint64_t lines = 0;            // the number of matching lines
  std::vector<std::string> examples;  // the first and the last match, shortened to the width of a line
};

struct ProposedMetric {
  std::string name;
  ProposedExpression expression;
  bool higher_is_better = true;
  std::vector<double> values;  // only the finite ones
};

struct ProposedEpochs {
  std::optional<ProposedExpression> expression;  // empty: each value of the metric ends an epoch
  std::uint64_t count = 0;
};

struct ProposedSteps {
  ProposedExpression expression;
  std::uint64_t count = 0;
  // The printed numbers, and the usual distance between consecutive ones.
  double first = 0.0;
  double last = 0.0;
  double distance = 1.0;
  bool over_all = false;  // whether the count continues across epochs
};

struct Proposal {
  std::uint64_t lines = 0;
  std::optional<ProposedMetric> metric;
  std::optional<ProposedEpochs> epochs;
  std::optional<ProposedSteps> steps;
};

class OutputStudy {
 public:
  // Accepts bytes of standard output (0) or standard error (1), as they arrive. Only the beginning of a very long
  // output is studied.
  void hear(std::size_t stream, std::string_view bytes);
  // Call it when both streams have ended.
  void finish();

  [[nodiscard]] Proposal propose() const;

 private:
  void keep(std::string_view line);

  std::array<LineSplitter, 2> splitters_;
  std::vector<std::string> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace zeus::run
