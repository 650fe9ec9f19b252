// A command that is run to its end, or to the end of our patience, with what it prints kept: in a process group of its
// own, without a shell, without standard input, and with nothing of ours open. When the call returns, nothing of that
// group is left; it does not outlive this process either, however that ends.
//
// Any thread, several at once, each with commands of its own; time is the machine's. No signal is used, changed or
// waited for; but nobody else may collect every child that there is, or ignore SIGCHLD. A process that goes into a
// session of its own (a daemon) is out of the group, and left alone; one that cannot be killed yet holds the call up.
#pragma once

#include "base/environment.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus {

struct GroupCommand {
  // The first is the program: where it has no slash, it is looked for in the absolute folders of PATH.
  std::vector<std::string> words;
  Environment environment;    // all that it gets
  Seconds patience{60};       // then the whole group is killed
  std::size_t most = 65'536;  // bytes kept of each stream; the rest is read and dropped
  Seconds linger{1};          // for what its children still print when it has ended; then they are killed
};

struct GroupCommandEnd {
  enum class How {
    not_started,  // `code` is an errno
    exited,       // `code` is its exit code
    killed,       // by a signal that was not ours: `code`
    timed_out,
  };

  How how = How::not_started;
  int code = 0;
  std::string output;
  std::string errors;
  bool cut = false;        // more was printed than is kept
  bool abandoned = false;  // its children still held the streams when they were killed
};

// An Error only where this process lacks something (descriptors, processes): then nothing was run, or all is killed.
GroupCommandEnd run_to_end(const GroupCommand& command);

}  // namespace zeus
