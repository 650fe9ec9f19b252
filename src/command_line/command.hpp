// A command of a program, for the code that reads command lines and prints help. A command is made once, declares its
// flags on the Options it is given, and then runs at most once. Commands run on the program's main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace zeus::command_line {

// The exit codes that scripts rely on. A command that runs a child passes the child's code on.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_bad_usage = 2;

class Options;

class AnyCommand {
 public:
  AnyCommand() = default;
  AnyCommand(const AnyCommand&) = delete;
  AnyCommand& operator=(const AnyCommand&) = delete;
  virtual ~AnyCommand() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // One line for the list of commands, without a full stop.
  [[nodiscard]] virtual std::string summary() const = 0;
  // Declares flags and arguments; their variables are members of the command.
  virtual void declare(Options& options) = 0;
  // The exit code when the work fails; bad usage always ends with exit_bad_usage.
  [[nodiscard]] virtual int failure_code() const { return exit_failure; }
};

// A command that is given a Context: everything outside the program that it may touch, at least the streams `out` and
// `err`.
template <typename Context>
class CommandWith : public AnyCommand {
 public:
  // Does the work and returns the exit code. Failures are thrown as zeus::Error.
  virtual int run(Context& context) = 0;
};

template <typename Context>
using CommandsWith = std::vector<std::unique_ptr<CommandWith<Context>>>;

}  // namespace zeus::command_line
