// A running training command, watched from outside. Its output passes through unchanged; what it prints or reports (see
// reports.hpp) becomes progress; it can be made to end with all its processes. It has a process group of its own, which
// gets the terminal; however this process dies, the group is ended.
//
// Threads: the main thread of a program makes, calls and destroys it, one command at a time. A thread of its own passes
// output and signals on, so neither waits for what the main thread does with GPUs, stores and servers meanwhile.
#pragma once

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_guard.hpp"
#include "base/output_relay.hpp"
#include "run/command.hpp"
#include "run/heard_progress.hpp"
#include "run/termination.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zeus::run {

class WatchedCommand final : public Command {
 public:
  // Starts the command. One that cannot be run ends at once, as for ChildProcess.
  WatchedCommand(const Plan& plan, Clock& clock);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;
  // Ends the command if it still runs, as end() does.
  ~WatchedCommand() override;

  std::vector<trial::Progress> wait(Seconds patience) override;
  // If the command had to be killed after a signal to this process: the code of that signal.
  [[nodiscard]] std::optional<int> exit_code() const override;

  [[nodiscard]] std::optional<std::string> why_not_run() const override;

  // Asks the whole group to end, and kills it after the grace.
  void end() override;
  [[nodiscard]] bool told_to_end() const override { return told_to_end_; }
  // Whether Ctrl-C, or a signal to this process, asked it to end. SIGTERM, SIGHUP and a second Ctrl-C also make the
  // command end, within the grace. Once it has ended, any of them ends the wait for a reader that takes nothing.
  [[nodiscard]] std::optional<int> asked_to_end() override;
  // By Ctrl-Z, together with this process, until `fg` or `bg`.
  [[nodiscard]] Seconds stood_still() const override;
  [[nodiscard]] Seen seen() const override;
  // Looks at standard error, or at the file that is both streams.
  void between_its_output(const std::function<void(bool mid_line)>& write) override;

 private:
  // The thread's work, and what it calls, with the mutex held but for the wait.
  void relay();
  [[nodiscard]] std::optional<int> relay_once(std::unique_lock<std::mutex>& lock);
  void hear(std::size_t channel, std::string_view bytes);
  void read_reports(std::size_t at_most);
  // The signal from outside that asks for the end.
  [[nodiscard]] std::optional<int> outer_signal();
  void heed_signals();
  void send_what_is_due();
  void wake() const;
  void finish(int code, std::unique_lock<std::mutex>& lock);
  void drain(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Seconds pause() const;

  Clock& clock_;
  // Guards all that follows, apart from descriptors that the thread polls.
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // there is progress, or the end
  FileDescriptor reports_;           // the file where the script may write reports
  FileDescriptor their_reports_;     // kept open for writing, so that the file has no end
  FileDescriptor wake_;              // ends the thread's wait
  OutputRelay relay_;
  HeardProgress heard_;
  std::function<void(std::size_t, std::string_view)> overheard_;
  std::optional<ChildProcess> child_;
  std::optional<GroupGuard> guard_;
  Termination termination_;
  std::optional<int> code_;
  std::optional<int> given_code_;  // once all progress before it was given
  bool told_to_end_ = false;
  bool terminal_ = false;
  bool mid_line_ = false;
  std::exception_ptr failure_;  // the thread's
  std::thread thread_;
};

}  // namespace zeus::run
