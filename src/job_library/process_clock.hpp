// The clock of this process, by which its jobs go. Any thread. Tests that link this module's objects bring another one
// (tests/support/virtual_machine.cpp), so process_clock.cpp is compiled alone.
#pragma once

#include "base/clock.hpp"

namespace zeus::job_library {

Clock& process_clock();

}  // namespace zeus::job_library
