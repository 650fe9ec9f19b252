#include "base/orphans.hpp"

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "base/signal_wait.hpp"

#include <zeus/units.hpp>

#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace zeus {

namespace {

// Those of all threads.
std::vector<pid_t> children() {
  const FileTree machine;
  std::vector<pid_t> found;
  for (const std::string& thread : machine.list("proc/self/task")) {
    std::istringstream list{machine.read("proc/self/task/" + thread + "/children").value_or("")};
    for (pid_t child = 0; list >> child;) {
      found.push_back(child);
    }
  }
  return found;
}

}  // namespace

std::vector<pid_t> adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return children();
}

void collect_orphans(pid_t group) {
  while (::waitpid(-group, nullptr, WNOHANG) > 0) {
  }
}

bool group_lives(pid_t group) {
  if (::kill(-group, 0) != 0) {
    return errno == EPERM;
  }
  const FileTree machine;
  return std::ranges::any_of(machine.list("proc"), [&](const std::string& name) {
    return std::isdigit(static_cast<unsigned char>(name.front())) != 0 &&
           group_of(machine, std::atoll(name.c_str())) == group;
  });
}

std::optional<int> wait_for_orphans(std::span<const pid_t> earlier) {
  const SignalWait signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  while (true) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto is_earlier = [&](pid_t child) { return std::ranges::find(earlier, child) != earlier.end(); };
    if (std::ranges::all_of(children(), is_earlier)) {
      return std::nullopt;
    }
    if (const int signal = signals.wait_for(Seconds{1}).value_or(SIGCHLD); signal != SIGCHLD) {
      return signal;
    }
  }
}

void end_orphans() {
  constexpr Seconds asked{1};
  constexpr Seconds longest{10};  // a process that the kernel cannot kill is left
  const SystemClock clock;
  const Instant began = clock.now();
  const SignalWait ends{SIGCHLD};
  while (clock.now() - began < longest) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::vector<pid_t> left = children();
    if (left.empty()) {
      return;
    }
    for (const pid_t child : left) {
      ::kill(child, clock.now() - began < asked ? SIGTERM : SIGKILL);
      ::kill(child, SIGCONT);
    }
    (void)ends.wait_for(Seconds{0.1});
  }
}

}  // namespace zeus
