// A command in a process group of its own, with pipes for its standard streams and none of our open files. The group
// does not outlive this process, however this process ends. One thread at a time; no signal is used, changed or waited
// for, but no other code in this process may collect every child, or ignore SIGCHLD.
#pragma once

#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_guard.hpp"

#include <sys/types.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

class GroupChild {
 public:
  struct Plan {
    // The first is the program; if it has no slash, it is looked for in the absolute folders of PATH.
    std::vector<std::string> words;
    Environment environment;  // the whole environment of the command
    bool input = false;       // a pipe, rather than nothing to read
    bool errors = false;      // a pipe, rather than our own standard error
  };

  // If the command cannot be run, why_not() says so, and nothing else may be called. An Error only if this process
  // lacks a resource (descriptors, processes).
  explicit GroupChild(const Plan& plan);
  GroupChild(const GroupChild&) = delete;
  GroupChild& operator=(const GroupChild&) = delete;
  // Kills what is left of the group.
  ~GroupChild();

  // An errno, or 0.
  [[nodiscard]] int why_not() const { return why_not_; }
  // Readable once it has ended.
  [[nodiscard]] const FileDescriptor& ended() const { return ended_; }
  // Our ends of its streams, which never wait; those that the plan does not ask for are not open.
  FileDescriptor& input() { return input_; }
  FileDescriptor& output() { return output_; }
  FileDescriptor& errors() { return errors_; }

  // Kills the rest of the group, waits for the command, and returns how it ended. Once only.
  siginfo_t collect();

 private:
  void watch();

  int why_not_ = 0;
  // Until we collect it, its process ID stays its own, dead or alive, so killing the group cannot hit other processes.
  pid_t process_ = -1;
  FileDescriptor ended_;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  std::unique_ptr<GroupGuard> guard_;
};

}  // namespace zeus
