#include "base/signal_descriptor.hpp"

#include <zeus/error.hpp>

#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>

namespace zeus {

FileDescriptor service_signals() {
  sigset_t set{};
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&set, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  FileDescriptor descriptor{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!descriptor) {
    throw system_failure(errno, "signals cannot be waited for");
  }
  return descriptor;
}

}  // namespace zeus
