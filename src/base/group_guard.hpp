// A small process that watches over a command with a process group of its own. It is a member of that group, and so
// hears what the terminal sends it (Ctrl-C), which we do not; and when this process dies, however it does, it ends the
// group: asks it to (SIGTERM), gives it time, and kills it. One thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <optional>

namespace zeus {

class GroupGuard {
 public:
  // `group` is that of a child of ours, which lives.
  GroupGuard(pid_t group, Seconds grace);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  // Ends the guard and leaves the group alone.
  ~GroupGuard();

  // How often the terminal has interrupted the group (SIGINT) or asked it to quit (SIGQUIT).
  [[nodiscard]] int interruptions();
  // The last signal by which the terminal wanted the group to end: one of those, or SIGHUP, when it was closed.
  [[nodiscard]] std::optional<int> terminal_signal();
  // Ends the guard, so that nothing of ours is in the group any more.
  void dismiss();

 private:
  void hear();

  FileDescriptor line_;
  pid_t process_ = -1;
  int interruptions_ = 0;
  std::optional<int> terminal_signal_;
};

}  // namespace zeus
