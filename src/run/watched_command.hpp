// A training command that runs, seen from outside: its output goes on as it is, what it prints (or reports, see
// reports.hpp) becomes progress, and it can be made to end, all of it. It has a process group of its own, which gets
// the terminal; when this process dies, whatever the way, the group is ended.
//
// The main thread of a program, one command at a time, as for ChildProcess.
#pragma once

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_guard.hpp"
#include "base/output_relay.hpp"
#include "run/ending.hpp"
#include "run/line_splitter.hpp"
#include "run/progress.hpp"
#include "run/progress_patterns.hpp"
#include "run/progress_sources.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::run {

class WatchedCommand {
 public:
  struct Plan {
    std::vector<std::string> command;
    Environment environment;
    std::vector<std::pair<std::string, std::string>> variables;  // beside those of `environment`
    PatternTexts patterns;
    int output = 1;  // descriptors that its own output goes on to
    int error = 2;
    Seconds grace{10};  // between being asked to end and being killed
  };

  // Starts it. Whether it could be run is told by the exit code, as for ChildProcess.
  WatchedCommand(const Plan& plan, Clock& clock);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;
  // Ends what still runs, as end() does.
  ~WatchedCommand();

  // Waits until there is progress, the command has ended, or the time is up; returns the progress, which may have come
  // with the end. Passes output and signals on meanwhile.
  std::vector<Progress> wait(Seconds patience);
  // Of an ended command; 128 + n for signal n, also for one that we were sent and it outlived until it was killed.
  [[nodiscard]] std::optional<int> exit_code() const { return code_; }

  // Asks the whole group to end, and kills it after the grace; wait() on until it has ended.
  void end();
  [[nodiscard]] bool told_to_end() const { return told_to_end_; }
  // Whether somebody else wants it to end: by Ctrl-C, or by a signal sent to this process. SIGTERM and SIGHUP, and a
  // second Ctrl-C, also make it end, within the grace.
  [[nodiscard]] bool interrupted();
  // How often Ctrl-Z has stopped it, and us with it, until `fg` or `bg`.
  [[nodiscard]] int times_stopped() const { return child_->times_stopped(); }

  struct Seen {
    ProgressPatterns::Matches output;
    ProgressPatterns::Matches error;
    std::uint64_t reports = 0;
    std::uint64_t strange_reports = 0;
    bool metric_reported = false;
    bool cut_lines = false;
  };
  [[nodiscard]] Seen seen() const;
  // Whether what it last wrote to standard error, or to the file that is both, has no line end yet.
  [[nodiscard]] bool in_the_middle_of_a_line() const { return mid_line_; }

 private:
  struct Stream {
    LineSplitter lines;
    ProgressPatterns patterns;
  };

  void hear(std::size_t channel, std::string_view bytes);
  void read_line(Stream& stream, std::string_view line);
  void read_reports();
  void add(const std::optional<Progress>& progress);
  // By which somebody else wants the end.
  [[nodiscard]] std::optional<int> outer_signal();
  void heed_signals();
  void send_what_is_due();
  void finish();
  [[nodiscard]] Seconds pause(Instant deadline) const;

  Clock& clock_;
  FileDescriptor reports_;        // what the script may write to
  FileDescriptor their_reports_;  // open for as long as we are, so that it has no end
  OutputRelay relay_;
  std::array<Stream, 2> streams_;
  LineSplitter report_lines_;
  ProgressSources sources_;
  std::optional<ChildProcess> child_;
  std::optional<GroupGuard> guard_;
  Ending ending_;
  std::optional<int> code_;
  std::vector<Progress> progress_;
  std::uint64_t reports_seen_ = 0;
  std::uint64_t strange_reports_ = 0;
  bool told_to_end_ = false;
  bool interrupted_ = false;
  bool terminal_ = false;
  bool mid_line_ = false;
};

}  // namespace zeus::run
