// A training command that runs, seen from outside: its output goes on as it is, what it prints (or reports, see
// reports.hpp) becomes progress, and it can be made to end, all of it. It has a process group of its own, which gets
// the terminal; when this process dies, whatever the way, the group is ended.
//
// The main thread of a program, one command at a time, as for ChildProcess.
#pragma once

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_guard.hpp"
#include "base/output_relay.hpp"
#include "run/command.hpp"
#include "run/heard_progress.hpp"
#include "run/progress.hpp"
#include "run/termination.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::run {

class WatchedCommand final : public Command {
 public:
  // Starts it. Whether it could be run is told by the exit code, as for ChildProcess.
  WatchedCommand(const Plan& plan, Clock& clock);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;
  // Ends what still runs, as end() does.
  ~WatchedCommand() override;

  // Passes output and signals on meanwhile.
  std::vector<Progress> wait(Seconds patience) override;
  // Of a signal that we were sent, also where it outlived that until it was killed.
  [[nodiscard]] std::optional<int> exit_code() const override { return code_; }

  // Asks the whole group, and kills it after the grace.
  void end() override;
  [[nodiscard]] bool told_to_end() const override { return told_to_end_; }
  // By Ctrl-C, or by a signal sent to this process. SIGTERM and SIGHUP, and a second Ctrl-C, also make it end, within
  // the grace.
  [[nodiscard]] bool interrupted() override;
  // By Ctrl-Z, and us with it, until `fg` or `bg`.
  [[nodiscard]] int times_stopped() const override { return child_->times_stopped(); }
  [[nodiscard]] Seen seen() const override { return heard_.seen(); }
  // Of standard error, or of the file that is both.
  [[nodiscard]] bool in_the_middle_of_a_line() const override { return mid_line_; }

 private:
  void hear(std::size_t channel, std::string_view bytes);
  void read_reports();
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
  HeardProgress heard_;
  std::function<void(std::size_t, std::string_view)> overheard_;
  std::optional<ChildProcess> child_;
  std::optional<GroupGuard> guard_;
  Termination termination_;
  std::optional<int> code_;
  bool told_to_end_ = false;
  bool interrupted_ = false;
  bool terminal_ = false;
  bool mid_line_ = false;
};

}  // namespace zeus::run
