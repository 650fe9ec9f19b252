// What must survive a fork of the process in one piece. A ForkMutex is held across every fork, so that the child finds
// what it guards whole; fork_count() tells the child that it is one. Threads do not survive: an owner of one must be
// created again. Any thread; a ForkMutex made later may be held while taking one made earlier, never the other way
// round.
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
