// Everything outside the program that a command of zeusd may touch. Made by the program. Main thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "command_line/command.hpp"
#include "device/backend.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace zeus::daemon {

struct Context {
  std::ostream& out;
  std::ostream& err;
  Clock& clock;
  const Environment& environment;
  std::vector<device::Backend*> gpu_backends;
  device::Backend* cpus = nullptr;
  FileTree machine;  // has /proc
  std::string version;
  // Uses the commands in a file before the drivers of these GPUs.
  std::function<void(const std::filesystem::path& file, std::span<device::DiscoveredGpu> gpus)> set_by_commands;
};

using Command = command_line::CommandWith<Context>;

}  // namespace zeus::daemon
