#include "base/holder.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <system_error>

namespace zeus {

std::string to_text(const Holder& holder) {
  return holder.command.empty() ? fmt::format("process {}", holder.pid)
                                : fmt::format("process {} ({})", holder.pid, holder.command);
}

namespace {

struct ProcessState {
  Holder process;
  std::int64_t parent = 0;
  std::int64_t group = 0;
};

// Nothing if it does not run (any more).
std::optional<ProcessState> state_of(const FileTree& machine, std::int64_t pid) {
  const std::optional<std::string> stat = machine.read_line(fmt::format("proc/{}/stat", pid));
  if (!stat) {
    return std::nullopt;
  }
  // "pid (name) state ...": the name may contain anything, even parentheses and spaces; what follows it is plain.
  const std::size_t open = stat->find('(');
  const std::size_t close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  std::istringstream rest{stat->substr(close + 1)};
  ProcessState found{{pid, 0, stat->substr(open + 1, close - open - 1)}};
  std::string state;
  rest >> state >> found.parent >> found.group;
  if (state == "Z" || state == "X") {
    return std::nullopt;
  }
  constexpr int fields_between = 16;
  std::string skipped;
  for (int i = 0; i < fields_between; ++i) {
    rest >> skipped;
  }
  rest >> found.process.started;
  return rest ? std::optional{found} : std::nullopt;
}

}  // namespace

std::optional<Holder> find_holder(const FileTree& machine, std::int64_t pid) {
  const std::optional<ProcessState> found = state_of(machine, pid);
  return found ? std::optional{found->process} : std::nullopt;
}

std::optional<std::int64_t> parent_of(const FileTree& machine, std::int64_t pid) {
  const std::optional<ProcessState> found = state_of(machine, pid);
  return found ? std::optional{found->parent} : std::nullopt;
}

std::optional<std::int64_t> group_of(const FileTree& machine, std::int64_t pid) {
  const std::optional<ProcessState> found = state_of(machine, pid);
  return found ? std::optional{found->group} : std::nullopt;
}

Holder this_holder(const FileTree& machine) {
  return find_holder(machine, ::getpid()).value_or(Holder{::getpid(), 0, {}});
}

std::string boot_of(const FileTree& machine) {
  return machine.read_line("proc/sys/kernel/random/boot_id").value_or("");
}

std::string place_of(const FileTree& machine) {
  std::error_code absent;
  const std::filesystem::path space = std::filesystem::read_symlink(machine.resolve("proc/self/ns/pid"), absent);
  const std::string boot = boot_of(machine);
  return absent || boot.empty() ? "" : fmt::format("{} {}", boot, space.string());
}

}  // namespace zeus
