#include "base/signal_wait.hpp"

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ctime>

namespace zeus {

namespace {

timespec timespec_of(Seconds time) {
  const auto nanoseconds = (Instant{} + time).nanoseconds;
  return {.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
          .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
}

}  // namespace

SignalWait::SignalWait(std::initializer_list<int> signals) {
  ::sigemptyset(&signals_);
  for (const int signal : signals) {
    ::sigaddset(&signals_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals_, &former_);
}

SignalWait::~SignalWait() {
  ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

std::optional<int> SignalWait::wait_for(Seconds patience) const {
  const timespec timeout = timespec_of(patience);
  const int signal = ::sigtimedwait(&signals_, nullptr, &timeout);
  return signal > 0 ? std::optional{signal} : std::nullopt;
}

std::variant<std::monostate, int, SignalWait::Input> SignalWait::wait_for(Seconds patience, int descriptor) const {
  const FileDescriptor signals{::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK)};
  pollfd waiting[] = {{.fd = signals.get(), .events = POLLIN, .revents = 0},
                      {.fd = descriptor, .events = POLLIN, .revents = 0}};
  const timespec timeout = timespec_of(patience);
  if (::ppoll(waiting, 2, &timeout, nullptr) > 0) {
    signalfd_siginfo came{};
    if (waiting[0].revents != 0 && ::read(signals.get(), &came, sizeof came) == sizeof came) {
      return static_cast<int>(came.ssi_signo);
    }
    if (waiting[1].revents != 0) {
      return Input::there_is_some;
    }
  }
  return std::monostate{};
}

}  // namespace zeus
