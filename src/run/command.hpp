// A training command that runs, as a try of a job sees it: what it lets be heard, how it ends, and how it is made to.
// WatchedCommand is a process; tests play scripts. One thread, one command at a time.
#pragma once

#include "base/environment.hpp"
#include "run/heard_progress.hpp"
#include "run/progress.hpp"
#include "run/progress_patterns.hpp"

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
    std::vector<std::pair<std::string, std::string>> variables;  // beside those of `environment`
    PatternTexts patterns;
    int output = 1;  // descriptors that its own output goes on to
    int error = 2;
    Seconds grace{10};  // between being asked to end and being killed
    // Is given what it prints, to standard output (0) or standard error (1), beside whoever reads progress there.
    std::function<void(std::size_t stream, std::string_view bytes)> overheard = {};
  };
  using Seen = HeardProgress::Seen;

  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  // Waits until there is progress, the command has ended, or the time is up; returns the progress, which may have come
  // with the end.
  virtual std::vector<Progress> wait(Seconds patience) = 0;
  // Of an ended command; 128 + n for signal n.
  [[nodiscard]] virtual std::optional<int> exit_code() const = 0;
  // Asks it to end, all of it; wait() on until it has.
  virtual void end() = 0;
  [[nodiscard]] virtual bool told_to_end() const = 0;
  // Whether somebody else wants it to end.
  [[nodiscard]] virtual bool interrupted() = 0;
  // How often it has been stopped for a while, and gone on.
  [[nodiscard]] virtual int times_stopped() const = 0;
  [[nodiscard]] virtual Seen seen() const = 0;
  // Whether what it last wrote to the user's error stream has no line end yet.
  [[nodiscard]] virtual bool in_the_middle_of_a_line() const = 0;
};

// Starts one.
using Launch = std::function<std::unique_ptr<Command>(const Command::Plan& plan)>;

}  // namespace zeus::run
