// A process with its start time, which tells it from a later process of the same ID: the holder of a GPU's lease, or
// the owner of a recurrence. Plain values and pure functions of the file tree; any thread.
#pragma once

#include "base/file_tree.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus {

struct Holder {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // in the kernel's ticks since it booted; 0 if unknown
  std::string command;        // "python3"

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("pid", self.pid, field::from_zero);
    fields("started", self.started);
    fields("command", self.command);
  }
  friend bool operator==(const Holder&, const Holder&) = default;
};

// For messages: "process 1234 (python3)".
std::string to_text(const Holder& holder);

// The process `pid`, as /proc below `machine` shows it; nothing if it does not run (any more).
std::optional<Holder> find_holder(const FileTree& machine, std::int64_t pid);

// The process that started this one, or the one that has adopted it since; nothing if `pid` does not run. 0 if that
// process cannot be seen from here.
std::optional<std::int64_t> parent_of(const FileTree& machine, std::int64_t pid);

// The process group of a process; nothing if it does not run.
std::optional<std::int64_t> group_of(const FileTree& machine, std::int64_t pid);

// This process. `machine` need not have a /proc.
Holder this_holder(const FileTree& machine);

// Identifies this boot of the machine; empty if the kernel does not say.
std::string boot_of(const FileTree& machine);

// Identifies where process IDs mean the same as here: this boot of this machine and, on it, this PID namespace (a
// container has its own). Empty if the kernel does not say.
std::string place_of(const FileTree& machine);

}  // namespace zeus
