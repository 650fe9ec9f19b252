#include "base/orphans.hpp"

#include "base/signal_wait.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>

namespace zeus {

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void wait_for_orphans() {
  const SignalWait signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  while (true) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) {
      return;
    }
    if (ended > 0) {
      continue;
    }
    if (signals.wait_for(Seconds{1}).value_or(SIGCHLD) != SIGCHLD) {
      return;
    }
  }
}

}  // namespace zeus
