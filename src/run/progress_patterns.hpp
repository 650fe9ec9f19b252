// The user's regular expressions for what a training command prints, and what a line says by them. Matching takes time
// and memory linear in the line, whatever the expression (RE2; its syntax is Perl's without back-references and
// look-around). Lines are bytes, not text of some encoding. One thread.
#pragma once

#include "run/progress.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace zeus::run {

struct PatternTexts {
  // In each, the number is what the first group that takes part has matched. Empty for none.
  std::string metric;  // has a group
  std::string epoch;   // matches once an epoch; its number, if it has a group, is the epoch's
  std::string step;    // matches once a step; its number, if it has a group, is the step's
};

class ProgressPatterns {
 public:
  // An expression that cannot be compiled, or one for the metric without a group, is an invalid_argument Error.
  explicit ProgressPatterns(const PatternTexts& texts);
  ProgressPatterns(const ProgressPatterns&) = delete;
  ProgressPatterns& operator=(const ProgressPatterns&) = delete;
  ProgressPatterns(ProgressPatterns&&) noexcept;
  ProgressPatterns& operator=(ProgressPatterns&&) noexcept;
  ~ProgressPatterns();

  // What this line says, in the order in which it happened: steps, the metric, then the epoch that it ends. Where there
  // is no expression for epochs, each metric ends one.
  [[nodiscard]] std::vector<Progress> read(std::string_view line);

  // How many lines matched so far.
  struct Matches {
    std::uint64_t lines = 0;  // that were read
    std::uint64_t metric = 0;
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    // What the metric's group matched that is no number, the first time.
    std::string not_a_number;
  };
  [[nodiscard]] const Matches& matches() const { return matches_; }

 private:
  // How far a number that a command prints has come. The same number again is the same thing printed again; one that is
  // lower than the last is a count that has begun again; the very first may be any, where training goes on from a
  // checkpoint, and counts as one.
  struct Count {
    std::optional<double> last;
    // The way to `number`; `again` is the way to it where a count has begun again.
    std::uint64_t advance(double number, double again);
  };
  // Of steps. Printed at even distances, each number stands for as many steps as lie between two, those from which a
  // count begins too, whether it begins at 0, at 1 or at the first that is printed. A bar jumps as time goes by: there
  // a number is the way from the beginning.
  struct StepCount {
    std::uint64_t advance(double number);

   private:
    Count count_;
    double distance_ = 0.0;  // between the last two numbers of a count
    bool even_ = false;      // as far as those before
    bool begun_ = false;     // whether it is known what the very first number stands for
  };

  void read_metric(std::string_view line, std::vector<Progress>& progress);

  std::unique_ptr<re2::RE2> metric_;
  std::unique_ptr<re2::RE2> epoch_;
  std::unique_ptr<re2::RE2> step_;
  Count epochs_;
  StepCount steps_;
  Matches matches_;
};

}  // namespace zeus::run
