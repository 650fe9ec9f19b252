#include "drivers/session/robust_mutex.hpp"

#include <zeus/error.hpp>

#include <cerrno>
#include <ctime>

namespace zeus::drivers {

namespace {

constexpr time_t patience_s = 5;

}  // namespace

void RobustMutex::initialise() {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

bool RobustMutex::lock() {
  int result = ::pthread_mutex_trylock(&mutex_);
  if (result == EBUSY) {
    timespec deadline{};
    ::clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += patience_s;
    result = ::pthread_mutex_timedlock(&mutex_, &deadline);
  }
  return taken(result);
}

bool RobustMutex::try_lock() {
  return taken(::pthread_mutex_trylock(&mutex_));
}

bool RobustMutex::taken(int result) {
  return result == 0 || (result == EOWNERDEAD && ::pthread_mutex_consistent(&mutex_) == 0);
}

void RobustMutex::unlock() {
  ::pthread_mutex_unlock(&mutex_);
}

RobustLock::RobustLock(RobustMutex& mutex) : mutex_{mutex} {
  if (!mutex_.lock()) {
    throw Error{ErrorKind::timeout, "another process holds a virtual GPU and does not let go",
                "find the stopped process of the session, and continue or kill it"};
  }
}

}  // namespace zeus::drivers
