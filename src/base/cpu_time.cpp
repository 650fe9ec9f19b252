#include "base/cpu_time.hpp"

#include <ctime>

namespace zeus {

Seconds thread_cpu_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return Seconds{static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9};
}

}  // namespace zeus
