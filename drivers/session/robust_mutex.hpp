// A mutex in shared memory that survives its holder: if the holder is killed, the next one gets the mutex, and may rely
// on what was published before (a VersionedCell is never half-written). Lives in zeroed shared memory, is initialised
// once by the process that makes the session, and is never destroyed. Any thread of any process may lock it, for a
// bounded time.
#pragma once

#include <pthread.h>

namespace zeus::drivers {

class RobustMutex {
 public:
  // Called by the maker of the session, before any other process sees it.
  void initialise();
  // False if it was not released for some seconds: the holder was stopped, or the machine is overloaded.
  [[nodiscard]] bool lock();
  // False if it is held now.
  [[nodiscard]] bool try_lock();
  void unlock();

 private:
  [[nodiscard]] bool taken(int result);

  pthread_mutex_t mutex_;
};

// Holds a RobustMutex for a scope; an Error of kind timeout if it does not become free.
class RobustLock {
 public:
  explicit RobustLock(RobustMutex& mutex);
  RobustLock(const RobustLock&) = delete;
  RobustLock& operator=(const RobustLock&) = delete;
  ~RobustLock() { mutex_.unlock(); }

 private:
  RobustMutex& mutex_;
};

}  // namespace zeus::drivers
