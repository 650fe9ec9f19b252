#include "measure/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <ranges>
#include <vector>

namespace zeus::measure {

namespace {

std::atomic<std::uint64_t> forks{0};

// Never destroyed: handlers may run while the process ends.
struct Guarded {
  std::mutex mutex;
  std::vector<ForkMutex*> all;
};

Guarded& guarded() {
  static auto* const instance = new Guarded;
  return *instance;
}

void before_fork() {
  guarded().mutex.lock();
  for (ForkMutex* const mutex : guarded().all | std::views::reverse) {
    mutex->lock();
  }
}

void after_fork() {
  for (ForkMutex* const mutex : guarded().all) {
    mutex->unlock();
  }
  guarded().mutex.unlock();
}

void after_fork_in_child() {
  ++forks;
  after_fork();
}

}  // namespace

std::uint64_t fork_count() {
  return forks.load();
}

ForkMutex::ForkMutex() {
  [[maybe_unused]] static const int registered = ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
  const std::lock_guard guard{guarded().mutex};
  guarded().all.push_back(this);
}

ForkMutex::~ForkMutex() {
  const std::lock_guard guard{guarded().mutex};
  std::erase(guarded().all, this);
}

}  // namespace zeus::measure
