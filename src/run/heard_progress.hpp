// The progress of a training command: what the user's expressions find in the lines of its two streams, and what the
// command reports itself (reports.hpp). Progress that arrives both ways counts once (ProgressSources). Pure; one
// thread.
#pragma once

#include "base/output_relay.hpp"
#include "run/line_splitter.hpp"
#include "run/progress_patterns.hpp"
#include "run/progress_sources.hpp"
#include "trial/progress.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::run {

class HeardProgress {
 public:
  // Refuses expressions as ProgressPatterns does.
  explicit HeardProgress(const PatternTexts& patterns);

  // Takes bytes of standard output (0) or standard error (1), as they come.
  void hear(std::size_t stream, std::string_view bytes);
  void hear_reports(std::string_view bytes);
  // Call it when the streams are over.
  void finish();

  [[nodiscard]] bool any() const { return !progress_.empty(); }
  // The progress since the last call.
  std::vector<trial::Progress> take();

  struct Seen {
    ProgressPatterns::Matches output;
    ProgressPatterns::Matches error;
    std::uint64_t reports = 0;
    std::uint64_t strange_reports = 0;
    bool metric_reported = false;
    bool cut_lines = false;
    OutputRelay::Lost lost;  // of the command's output
  };
  [[nodiscard]] Seen seen() const;

 private:
  struct Stream {
    LineSplitter lines;
    ProgressPatterns patterns;
  };

  void add_printed(std::size_t stream, const std::vector<trial::Progress>& all);
  void add(const std::optional<trial::Progress>& progress, std::size_t source);
  void add_to_the_epoch_before(trial::StepsDone steps);

  std::array<Stream, 2> streams_;
  LineSplitter report_lines_;
  ProgressSources sources_;
  std::vector<trial::Progress> progress_;
  std::optional<std::size_t> source_of_epoch_;  // of the last one in `progress_`
  std::uint64_t reports_ = 0;
  std::uint64_t strange_reports_ = 0;
};

}  // namespace zeus::run
