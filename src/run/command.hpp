// A running training command, as a try of a job sees it: its progress, its end, and how to make it end. WatchedCommand
// is a process; tests play scripts. One thread, one command at a time.
#pragma once

#include "base/environment.hpp"
#include "run/heard_progress.hpp"
#include "run/progress_patterns.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::run {

class Command {
 public:
  struct Plan {
    std::vector<std::string> command;
    Environment environment;
    std::vector<std::pair<std::string, std::string>> variables;  // added to those of `environment`
    PatternTexts patterns;
    int output = 1;  // the descriptors to which its output is passed on
    int error = 2;
    Seconds grace{10};  // between the request to end and the kill
    // Also called with what the command prints to standard output (0) or standard error (1), by the thread that passes
    // it on, until the command has ended.
    std::function<void(std::size_t stream, std::string_view bytes)> overheard = {};
  };
  using Seen = HeardProgress::Seen;

  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  // Waits until there is progress, the command has ended, or the time is up. Returns the progress, which may come
  // together with the end.
  virtual std::vector<trial::Progress> wait(Seconds patience) = 0;
  // The exit code of an ended command; 128 + n for signal n.
  [[nodiscard]] virtual std::optional<int> exit_code() const = 0;
  // A message if it could not be run at all; nothing before its end.
  [[nodiscard]] virtual std::optional<std::string> why_not_run() const = 0;
  // Asks the whole command to end; keep calling wait() until it has.
  virtual void end() = 0;
  [[nodiscard]] virtual bool told_to_end() const = 0;
  // The last signal by which the user or another process wants it, or this process after its end, to end; nothing if
  // there was none.
  [[nodiscard]] virtual std::optional<int> asked_to_end() = 0;
  // For how long in all it was stopped, until it was continued.
  [[nodiscard]] virtual Seconds stood_still() const = 0;
  [[nodiscard]] virtual Seen seen() const = 0;
  // Calls `write` while none of its output is passed on. `mid_line`: its last output to the user's error stream still
  // lacks a line end.
  virtual void between_its_output(const std::function<void(bool mid_line)>& write) = 0;
};

// Starts a command.
using Launch = std::function<std::unique_ptr<Command>(const Command::Plan& plan)>;

}  // namespace zeus::run
