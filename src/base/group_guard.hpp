// A small process that watches over a command with a process group of its own. It is a member of that group, so it gets
// the signals that the terminal sends there (Ctrl-C), which we do not get. When this process dies, however it does, the
// guard ends the group: it asks it to end (SIGTERM), gives it time, and kills it. One thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <optional>

namespace zeus {

class GroupGuard {
 public:
  // `group` belongs to a living child of ours.
  GroupGuard(pid_t group, Seconds grace);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  // Ends the guard and leaves the group alone.
  ~GroupGuard();

  // How often the terminal has sent the group SIGINT or SIGQUIT.
  [[nodiscard]] int interruptions();
  // The last signal with which the terminal ended the group: one of those two, or SIGHUP if the terminal was closed.
  [[nodiscard]] std::optional<int> terminal_signal();
  // Ends the guard, so that no process of ours remains in the group.
  void dismiss();

 private:
  void hear();

  FileDescriptor line_;
  pid_t process_ = -1;
  int interruptions_ = 0;
  std::optional<int> terminal_signal_;
};

}  // namespace zeus
