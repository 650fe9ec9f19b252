// The user's regular expressions for the output of a training command, and the progress that they find in a line.
// Matching takes time and memory linear in the line, whatever the expression (RE2; its syntax is Perl's without
// back-references and look-around). Lines are bytes in no particular encoding. One thread.
#pragma once

#include "trial/progress.hpp"

#include <cstddef>
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
  // In each, the number is the match of the first group that takes part. Empty: no expression.
  std::string metric;  // has a group
  std::string epoch;   // matches once an epoch; its number, if it has a group, is the epoch's
  std::string step;    // matches once a step; its number, if it has a group, is the step's
  // Whether a number that continues as a fraction, or with a unit of time or a %, is no step's: "step: 14 ms".
  bool counts_alone = false;
};

class ProgressPatterns {
 public:
  // Throws an invalid_argument Error for an expression that cannot be compiled, and for a metric without a group.
  explicit ProgressPatterns(const PatternTexts& texts);
  ProgressPatterns(const ProgressPatterns&) = delete;
  ProgressPatterns& operator=(const ProgressPatterns&) = delete;
  ProgressPatterns(ProgressPatterns&&) noexcept;
  ProgressPatterns& operator=(ProgressPatterns&&) noexcept;
  ~ProgressPatterns();

  // The progress in this line, in the order in which it happened: steps, the metric, then the epoch that it ends.
  // Without an expression for epochs, each metric ends one.
  [[nodiscard]] std::vector<trial::Progress> read(std::string_view line);
  // The steps in a progress bar whose line is not over yet; the rest of it is read when it is. Steps without a number,
  // or with one that may go on, wait until then, too.
  [[nodiscard]] std::vector<trial::Progress> read_redrawn(std::string_view line);

  // How many lines matched so far.
  struct Matches {
    std::uint64_t lines = 0;  // that were read
    std::uint64_t metric = 0;
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    // The first match of the metric's group that is not a number.
    std::string not_a_number;
  };
  [[nodiscard]] const Matches& matches() const { return matches_; }

 private:
  // Counts events by the numbers that a command prints. A number that repeats the last one is the same event, printed
  // again; a lower one begins the count again. The very first number counts as one, whatever it is, because a training
  // may continue from a checkpoint.
  struct Count {
    std::optional<double> last;
    // The events since the last number; `again` if `number` begins the count again.
    std::uint64_t advance(double number, double again);
  };
  // Counts steps. If numbers are printed at even distances, each stands for as many steps as lie between two, even the
  // first of a count, whether that is 0, 1 or a later one. A progress bar skips numbers unevenly: then the first number
  // of a count stands for all steps up to it. The 0 of a line that is redrawn, as bars are, stands for none. Nor does a
  // number that another rank has printed already.
  struct StepCount {
    struct Steps {
      std::uint64_t now = 0;
      std::uint64_t earlier = 0;  // the meaning of the very first number, where that is known only now
      bool begins = false;        // the count begins again
    };
    Steps advance(double number, bool redrawn);

   private:
    // Whether a rank prints this number that is a little behind the others.
    [[nodiscard]] bool is_behind(double number) const;

    Count count_;
    double first_ = 0.0;           // number of the present count
    std::uint64_t numbers_ = 0;    // of the present count
    std::optional<double> ended_;  // the last number of the count before, if that had several
    double distance_ = 0.0;        // between the last two numbers of a count
    bool even_ = false;            // the same as the distance before
    bool begun_ = false;           // the meaning of the very first number is known
    bool begins_ = false;          // since the last step
  };
  // Bars of training and of evaluation are counts of their own: "3/40" and "3/10".
  struct Series {
    double total = 0.0;  // 0: the number stands alone
    StepCount count;
  };

  [[nodiscard]] bool is_step(std::string_view line, std::string_view group) const;
  void add_steps(std::string_view line, std::string_view group, bool redrawn, std::vector<trial::Progress>& progress);
  std::size_t series_of(double total);
  void read_metric(std::string_view line, std::vector<trial::Progress>& progress);

  std::unique_ptr<re2::RE2> metric_;
  std::unique_ptr<re2::RE2> epoch_;
  std::unique_ptr<re2::RE2> step_;
  bool counts_alone_;
  Count epochs_;
  std::vector<Series> steps_;
  Matches matches_;
};

}  // namespace zeus::run
