#include "job_library/process_clock.hpp"

namespace zeus::job_library {

Clock& process_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace zeus::job_library
