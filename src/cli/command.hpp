// What a command of the `zeus` program is, and what it is given. Commands run on the program's main thread.
// A command is made once, declares its flags on the Options it is handed, and is then run at most once.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "device/backend.hpp"

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace zeus::cli {

// The exit codes that scripts rely on (docs/cli.md). Commands that run a child pass the child's code on instead.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_bad_usage = 2;

// Everything outside that a command may touch; whoever runs commands owns it and keeps it alive meanwhile.
struct Context {
  std::ostream& out;
  std::ostream& err;
  Clock& clock;
  const Environment& environment;
  // The ways to find devices, best first; where two find the same GPU, the first keeps it.
  std::vector<device::Backend*> backends = {};
  FileTree files = FileTree{};
};

class Options;

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // One line for the list of commands, without a full stop.
  [[nodiscard]] virtual std::string summary() const = 0;
  // Declares flags and arguments; their variables are members of the command.
  virtual void declare(Options& options) = 0;
  // What a failure of the work ends with; bad usage is always exit_bad_usage.
  [[nodiscard]] virtual int failure_code() const { return exit_failure; }
  // Does the work and returns the exit code. Failures are thrown as zeus::Error.
  virtual int run(Context& context) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

}  // namespace zeus::cli
