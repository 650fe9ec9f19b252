#include "base/background_thread.hpp"

#include <csignal>
#include <exception>
#include <system_error>
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

void without_signals(const std::function<void()>& work) {
  std::exception_ptr thrown;
  std::thread thread;
  try {
    thread = background_thread([&] {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  } catch (const std::system_error&) {
    work();
    return;
  }
  thread.join();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace zeus
