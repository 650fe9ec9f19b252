// What the commands of the `zeus` program receive, and the names that their declarations use. command_line/command.hpp
// says what a command is. Commands run on the program's main thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "command_line/bad_usage.hpp"
#include "command_line/command.hpp"
#include "control/lessor.hpp"
#include "device/backend.hpp"

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace zeus::cli {

// docs/cli.md has what scripts may rely on.
using command_line::exit_bad_usage;
using command_line::exit_failure;
using command_line::exit_ok;

// Everything outside the program that a command may touch. The caller owns it, and keeps it alive while commands run.
struct Context {
  std::ostream& out;
  std::ostream& err;
  Clock& clock;
  const Environment& environment;
  // The ways to find devices, best first. Where two find the same GPU, the first keeps it.
  std::vector<device::Backend*> backends = {};
  FileTree files = FileTree{};
  // Leases GPUs to this process; null if nothing does.
  std::shared_ptr<control::Lessor> lessor = nullptr;
};

using command_line::BadUsage;
using command_line::Options;
using Command = command_line::CommandWith<Context>;
using Commands = command_line::CommandsWith<Context>;

}  // namespace zeus::cli
