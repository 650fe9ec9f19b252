// A small process that watches over a command with a process group of its own. It is a member of that group, and so
// hears what the terminal sends it (Ctrl-C), which we do not; and when this process dies, however it does, it ends the
// group: asks it to (SIGTERM), gives it time, and kills it. One thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

namespace zeus {

class GroupGuard {
 public:
  // `group` is that of a child of ours, which lives.
  GroupGuard(pid_t group, Seconds grace);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  // Ends the guard and leaves the group alone.
  ~GroupGuard();

  // Whether the terminal has interrupted the group, or asked it to quit.
  [[nodiscard]] bool interrupted();
  // Ends the guard, so that nothing of ours is in the group any more.
  void dismiss();

 private:
  FileDescriptor line_;
  pid_t process_ = -1;
  bool interrupted_ = false;
};

}  // namespace zeus
