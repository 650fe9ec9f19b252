// Which of the counts that a training shows is that of its training steps: the one that takes most of the time. Others
// are bars of preparation or evaluation, or show the same steps in another way. Steps that the training reports itself
// are its own, whatever was shown before them. An evaluation or a checkpoint that shows nothing is a pause: a time
// without steps, several times as long as any of late. Pure: each event brings its time. One thread.
#pragma once

#include "base/clock.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::trial {

class StepSeries {
 public:
  // The steps if they are the training's; empty for those of another count. Steps after other work or a pause begin a
  // count. When another count turns out to be the training's, its steps until then come with the first.
  std::optional<StepsDone> take(const StepsDone& steps, Instant now);

 private:
  // The latest times without steps. Pauses that come again before these are forgotten are the training's rhythm.
  class Intervals {
   public:
    // Adds the time since the steps before; if nothing is known to lie in it, says whether it was a pause.
    bool add(Instant now, bool begins);

   private:
    static constexpr std::size_t most = 8;
    std::array<Seconds, most> latest_{};
    std::size_t known_ = 0;
    std::optional<Instant> last_;
  };
  struct Count {
    Seconds time;  // from event to event, without those between which others fill most of the time
    std::uint64_t gaps = 0;
    std::optional<Instant> first;
    std::optional<Instant> last;
    Seconds beside;               // from event to event of others, since then
    std::optional<Instant> over;  // came to its end then; empty when it begins again
    std::uint64_t left_out = 0;
    Intervals intervals;
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
