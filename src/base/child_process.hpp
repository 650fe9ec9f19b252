// A command run as a child of this process, as time, nice and perf stat do: it inherits the terminal and the standard
// streams, gets the signals that are sent to us, and its exit code becomes ours. One at a time, made and destroyed by
// the main thread, in a program whose other threads block signals (background_thread.hpp): while a ChildProcess lives,
// the signals that it passes on are blocked. Between those two, one thread at a time calls it.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"

#include <poll.h>
#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus {

class ChildProcess {
 public:
  // The exit codes of a shell that cannot run a command; 125 for a failure of our own.
  static constexpr int exit_own_failure = 125;
  static constexpr int exit_not_executable = 126;
  static constexpr int exit_not_found = 127;

  struct Plan {
    std::vector<std::string> command;
    Environment environment;
    // A process group of its own, which gets the terminal if we have it: for callers that stop the whole group.
    bool own_group = false;
    // Called in the child before the command replaces it. If it throws, the command cannot be run.
    std::function<void()> before_command;
  };

  // `plan.command` is not empty. If it cannot be run, it ends at once, and why_not_run() says so.
  explicit ChildProcess(const Plan& plan);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Does not end the command.
  ~ChildProcess();

  [[nodiscard]] pid_t process() const { return process_; }
  // Waits until the command has ended, and returns its exit code (128+n for signal n). Stops waiting, and returns
  // nothing, when the time is up, when one of `others` is ready (its revents say so), or when it has passed on a signal
  // that usually ends a command. Signals that this process ignores are not passed on.
  std::optional<int> wait_for(Seconds patience, std::span<pollfd> others = {});
  // The same without waiting, for a caller that polls by itself: descriptor() is readable when there is something to
  // do.
  std::optional<int> look();
  [[nodiscard]] int descriptor() const { return signals_.get(); }
  // A message if the command could not be run, with the exit code that it then has; nothing before wait_for() has
  // returned that. A command that runs may exit with these codes itself, as a shell does if it cannot run one of its
  // own.
  [[nodiscard]] std::optional<std::string> why_not_run() const;
  // The last signal that usually ends a command, sent to us so far, also after the command has ended; nothing if there
  // was none. And how many there were.
  [[nodiscard]] std::optional<int> asked_to_end();
  [[nodiscard]] int times_asked_to_end() const { return times_asked_to_end_; }
  // For how long in all the terminal has stopped the command, and us with it.
  [[nodiscard]] Seconds stood_still() const { return stood_still_; }

 private:
  [[nodiscard]] std::optional<int> collect();
  void take_terminal_back() const;
  void stop_with_group();
  void pass_terminal_on() const;
  // Not to a command that has ended. True if one of them usually ends a command.
  bool pass_signals_on();

  FileDescriptor signals_;  // delivers those of `passed_`
  sigset_t passed_{};
  sigset_t former_{};
  std::string name_;
  FileDescriptor failure_;  // the error with which the command could not be run arrives here
  int not_run_ = 0;         // that error; 0 if it was run
  pid_t process_ = -1;
  bool own_group_ = false;
  std::optional<int> code_;
  std::optional<int> asked_to_end_;
  int times_asked_to_end_ = 0;
  Seconds stood_still_;
};

}  // namespace zeus
