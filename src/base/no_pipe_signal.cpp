#include "base/no_pipe_signal.hpp"

#include <ctime>

namespace zeus {

NoPipeSignal::NoPipeSignal() {
  ::sigemptyset(&pipe_);
  ::sigaddset(&pipe_, SIGPIPE);
  sigset_t waiting{};
  ::sigpending(&waiting);
  was_waiting_ = ::sigismember(&waiting, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe_, &former_);
}

NoPipeSignal::~NoPipeSignal() {
  if (!was_waiting_) {
    const timespec at_once{};
    ::sigtimedwait(&pipe_, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

}  // namespace zeus
