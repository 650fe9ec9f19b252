// Which of the counts that a training shows is that of its training steps: the one that takes most of the time. Others
// are bars of evaluation, or show the same steps in another way. Steps that the training reports itself are its own,
// whatever was shown before them. Pure: each event brings its time. One thread.
#pragma once

#include "base/clock.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::trial {

class StepSeries {
 public:
  // The steps if they are the training's; empty for those of another count. Steps after other work begin a count.
  std::optional<StepsDone> take(const StepsDone& steps, Instant now);

 private:
  std::vector<Seconds> times_;  // by series, from event to event
  std::optional<std::uint32_t> training_;
  bool is_reported_ = false;
  std::uint32_t last_ = 0;
  Instant last_at_;
  Instant trained_at_;
  Seconds beside_;  // of other series, since then
};

}  // namespace zeus::trial
