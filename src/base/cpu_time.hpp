// Processor time used so far. Any thread.
#pragma once

#include <zeus/units.hpp>

namespace zeus {

Seconds thread_cpu_time();   // by the calling thread
Seconds process_cpu_time();  // by all threads of this process

}  // namespace zeus
