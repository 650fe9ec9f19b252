// What a training command has printed, and the expressions that make progress of it, as `zeus init` proposes them: the
// numbers in its lines are told apart by the words before them, and of those the metric, the epochs and the steps are
// looked for. Pure; one thread.
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

// An expression, and what it matches in what was printed.
struct ProposedExpression {
  std::string text;
  std::uint64_t lines = 0;            // that it matches
  std::vector<std::string> examples;  // the first of them and the last, cut to what fits a line
};

struct ProposedMetric {
  std::string name;
  ProposedExpression expression;
  bool higher_is_better = true;
  std::vector<double> values;  // finite ones
};

struct ProposedEpochs {
  std::optional<ProposedExpression> expression;  // nothing: each value of the metric ends one
  std::uint64_t count = 0;
};

struct ProposedSteps {
  ProposedExpression expression;
  std::uint64_t count = 0;
  // The numbers that are printed, and how far apart most of them are.
  double first = 0.0;
  double last = 0.0;
  double distance = 1.0;
  bool over_all = false;  // they count on over epochs
};

struct Proposal {
  std::uint64_t lines = 0;
  std::optional<ProposedMetric> metric;
  std::optional<ProposedEpochs> epochs;
  std::optional<ProposedSteps> steps;
};

class OutputStudy {
 public:
  // Bytes of standard output (0) or standard error (1), as they come. Of very much output the beginning is studied.
  void hear(std::size_t stream, std::string_view bytes);
  // The streams are over.
  void finish();

  [[nodiscard]] Proposal propose() const;

 private:
  void keep(std::string_view line);

  std::array<LineSplitter, 2> splitters_;
  std::vector<std::string> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace zeus::run
