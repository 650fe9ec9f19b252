// What the just-in-time profiler wants done. Plain values; copy them freely between threads.
#pragma once

#include "records/power_setting.hpp"

#include <vector>

namespace zeus::optimize {

enum class ProfilerActionKind {
  set,            // put `setting` on every GPU of the job
  open_window,    // begin to measure time and energy
  close_window,   // end the measurement, and report it with Profiler::on_slice before anything else happens
  cancel_window,  // end the measurement and discard it
  apply_optimum,  // put `setting`, the choice, on every GPU: profiling is over
};

struct ProfilerAction {
  ProfilerActionKind kind = ProfilerActionKind::set;
  records::PowerSetting setting;  // of `set` and `apply_optimum`

  friend bool operator==(const ProfilerAction&, const ProfilerAction&) = default;
};

// Carry them out in this order. An empty list means that there is nothing to do.
using ProfilerActions = std::vector<ProfilerAction>;

}  // namespace zeus::optimize
