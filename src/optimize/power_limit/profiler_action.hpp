// What the just-in-time profiler wants done now. Plain values; copy them freely between threads.
#pragma once

#include "records/power_setting.hpp"

#include <vector>

namespace zeus::optimize {

enum class ProfilerActionKind {
  set,            // put `setting` on every GPU of the job
  open_window,    // begin to measure time and energy
  close_window,   // end it, and report with Profiler::on_slice before anything else happens
  cancel_window,  // end it and forget it
  apply_optimum,  // put `setting` on every GPU: it is the choice, and profiling is over
};

struct ProfilerAction {
  ProfilerActionKind kind = ProfilerActionKind::set;
  records::PowerSetting setting;  // of `set` and `apply_optimum`

  friend bool operator==(const ProfilerAction&, const ProfilerAction&) = default;
};

// To be carried out in this order; none is "nothing to do".
using ProfilerActions = std::vector<ProfilerAction>;

}  // namespace zeus::optimize
