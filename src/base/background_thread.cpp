#include "base/background_thread.hpp"

#include <csignal>
#include <utility>

namespace zeus {

namespace {

class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

 private:
  sigset_t former_{};
};

}  // namespace

// A thread starts with the mask of the one that starts it.
std::thread background_thread(std::function<void()> work) {
  const WithoutSignals for_its_start;
  return std::thread{std::move(work)};
}

}  // namespace zeus
