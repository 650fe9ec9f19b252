// Protects data that must stay consistent when the process forks. A ForkMutex is held during every fork, so the child
// finds the guarded data consistent. fork_count() shows a child that it has been forked. Threads do not survive a fork:
// an object that owns one must be created again. Any thread may use this. A ForkMutex created later may be held while
// locking one created earlier, never the other way round.
#pragma once

#include <cstdint>
#include <mutex>

namespace zeus::measure {

// How many forks lie between the first process and this one.
std::uint64_t fork_count();

class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  ~ForkMutex();

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace zeus::measure
