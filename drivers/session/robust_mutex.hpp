// A mutex in shared memory that outlives whoever holds it: when its holder is killed, the next one gets it, and may
// rely on what was published before (VersionedCell is never half-written). Lives in zeroed shared memory, is
// initialised once by the maker of the session, and is never destroyed. Any thread of any process may lock it, for a
// bounded time.
#pragma once

#include <pthread.h>

namespace zeus::drivers {

class RobustMutex {
 public:
  // By the maker of the session, before anybody else sees it.
  void initialise();
  // False when nobody let go of it for some seconds: a holder that was stopped, or a machine at its end.
  [[nodiscard]] bool lock();
  // False when somebody holds it now.
  [[nodiscard]] bool try_lock();
  void unlock();

 private:
  [[nodiscard]] bool taken(int result);

  pthread_mutex_t mutex_;
};

// Holds a RobustMutex for a scope; an Error of kind timeout when it does not come free.
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
