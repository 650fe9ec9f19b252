#include "base/cpu_time.hpp"

#include <ctime>

namespace zeus {

namespace {

Seconds used_by(clockid_t clock) {
  timespec spent{};
  ::clock_gettime(clock, &spent);
  return Seconds{static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9};
}

}  // namespace

Seconds thread_cpu_time() {
  return used_by(CLOCK_THREAD_CPUTIME_ID);
}

Seconds process_cpu_time() {
  return used_by(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace zeus
