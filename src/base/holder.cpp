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

std::optional<Holder> find_holder(const FileTree& machine, std::int64_t pid) {
  const std::optional<std::string> stat = machine.read_line(fmt::format("proc/{}/stat", pid));
  if (!stat) {
    return std::nullopt;
  }
  // "pid (name) state ...": the name may hold anything, parentheses and spaces included; what follows it is plain.
  const std::size_t open = stat->find('(');
  const std::size_t close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  std::istringstream rest{stat->substr(close + 1)};
  std::string state;
  rest >> state;
  if (state == "Z" || state == "X") {
    return std::nullopt;
  }
  constexpr int fields_before_start = 18;
  std::string skipped;
  for (int i = 0; i < fields_before_start; ++i) {
    rest >> skipped;
  }
  Holder holder{pid, 0, stat->substr(open + 1, close - open - 1)};
  rest >> holder.started;
  return rest ? std::optional{holder} : std::nullopt;
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
