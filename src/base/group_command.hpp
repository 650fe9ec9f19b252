// Runs a command to its end, or until our patience is over, and keeps what it prints. The command has a process group
// of its own, no shell, no standard input, and none of our open files. When the call returns, nothing of that group is
// left. The group does not outlive this process either, however this process ends.
//
// Any thread, several at once, each with commands of its own; time is the machine's. No signal is used, changed or
// waited for. But no other code in this process may collect every child, or ignore SIGCHLD. A process that starts a
// session of its own (a daemon) has left the group, and is left alone. A process that cannot be killed yet holds up the
// call.
#pragma once

#include "base/environment.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus {

struct GroupCommand {
  // The first is the program; if it has no slash, it is looked for in the absolute folders of PATH.
  std::vector<std::string> words;
  Environment environment;    // the whole environment of the command
  Seconds patience{60};       // after that the whole group is killed
  std::size_t most = 65'536;  // bytes kept of each stream; the rest is read and dropped
  Seconds linger{1};          // for its children to finish printing after it has ended; then they are killed
};

struct GroupCommandEnd {
  enum class How {
    not_started,  // `code` is an errno
    exited,       // `code` is its exit code
    killed,       // by signal `code`, which was not ours
    timed_out,
  };

  How how = How::not_started;
  int code = 0;
  std::string output;
  std::string errors;
  bool cut = false;        // more was printed than is kept
  bool abandoned = false;  // its children still held the streams when they were killed
};

// An Error only if this process lacks a resource (descriptors, processes): then either nothing was run, or all is
// killed.
GroupCommandEnd run_to_end(const GroupCommand& command);

}  // namespace zeus
