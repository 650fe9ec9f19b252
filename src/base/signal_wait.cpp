#include "base/signal_wait.hpp"

#include "base/clock.hpp"

#include <ctime>

namespace zeus {

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
  const auto nanoseconds = (Instant{} + patience).nanoseconds;
  const timespec timeout{.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
                         .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
  const int signal = ::sigtimedwait(&signals_, nullptr, &timeout);
  return signal > 0 ? std::optional{signal} : std::nullopt;
}

}  // namespace zeus
