// Which of the counts that a training shows is that of its training steps: the one that takes most of the time. Others
// are bars of preparation or evaluation, or show the same steps in another way. Steps that the training reports itself
// are its own, whatever was shown before them. Pure: each event brings its time. One thread.
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
  // The steps if they are the training's; empty for those of another count. Steps after other work begin a count. When
  // another count turns out to be the training's, its steps until then come with the first.
  std::optional<StepsDone> take(const StepsDone& steps, Instant now);

 private:
  struct Count {
    Seconds time;  // from event to event, without those between which others fill most of the time
    std::uint64_t gaps = 0;
    std::optional<Instant> first;
    std::optional<Instant> last;
    Seconds beside;               // from event to event of others, since then
    std::optional<Instant> over;  // came to its end then; empty when it begins again
    std::uint64_t left_out = 0;
  };

  // Whether other work lies between these steps and those of the same count before.
  bool add(Count& count, const StepsDone& steps, Instant now);
  [[nodiscard]] bool is_rather_training(const Count& other) const;

  std::vector<Count> counts_;  // by series
  std::optional<std::uint32_t> training_;
  bool is_reported_ = false;
  std::optional<std::uint32_t> last_;
  Instant last_at_;
};

}  // namespace zeus::trial
