// A process, told from a later one of the same number by when it started: who has a lease of a GPU, who runs a
// recurrence. Plain values and pure functions of the file tree; any thread.
#pragma once

#include "base/file_tree.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus {

struct Holder {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // in the kernel's ticks since it booted; 0 when it could not be found out
  std::string command;        // "python3"

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("pid", self.pid, field::from_zero);
    fields("started", self.started);
    fields("command", self.command);
  }
  friend bool operator==(const Holder&, const Holder&) = default;
};

// "process 1234 (python3)", for a person.
std::string to_text(const Holder& holder);

// The process `pid`, as /proc below `machine` has it; nothing when it does not run (any more).
std::optional<Holder> find_holder(const FileTree& machine, std::int64_t pid);

// The process that started this one, or has taken it over since; nothing when `pid` does not run. 0 where that is none
// that can be seen from here.
std::optional<std::int64_t> parent_of(const FileTree& machine, std::int64_t pid);

// This process. `machine` need not have a /proc.
Holder this_holder(const FileTree& machine);

// What tells one boot of the machine from the next; empty where the kernel does not say.
std::string boot_of(const FileTree& machine);

// Where process numbers mean the same as here: this boot of this machine and, on it, this namespace of processes (a
// container has one of its own). Empty where the kernel does not say.
std::string place_of(const FileTree& machine);

}  // namespace zeus
