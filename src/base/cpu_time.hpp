// CPU time that the calling thread has used so far. Any thread, about itself.
#pragma once

#include <zeus/units.hpp>

namespace zeus {

Seconds thread_cpu_time();

}  // namespace zeus
