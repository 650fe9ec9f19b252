// The process groups in which a followed command does its work. That is its own group, unless its programs start child
// processes in separate groups, as `zeus run` or a shell with job control does: then it is those groups. A process that
// started such a group only waits for it, and is left alone. So is what a shell with job control has started itself,
// because the shell would report it as stopped and carry on; its children are followed, as single processes. Processes
// that have left the session (setsid) are not followed. Pure except for read_processes(); one thread.
#pragma once

#include "base/file_tree.hpp"

#include <sys/types.h>

#include <span>
#include <vector>

namespace zeus::drivers {

struct ProcessPlace {
  pid_t process = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool is_shell = false;

  friend bool operator==(const ProcessPlace&, const ProcessPlace&) = default;
};

// All processes that this process may see.
std::vector<ProcessPlace> read_processes(const FileTree& machine);

// Ascending; a negative number is a single process. Only the command's own group if nothing is known of it.
std::vector<pid_t> followed_groups(std::span<const ProcessPlace> processes, pid_t command);

}  // namespace zeus::drivers
