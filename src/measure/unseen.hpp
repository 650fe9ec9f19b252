// Whether a counter itself looks at a part of the time only, as the sensor does that samples come from, and what it may
// have left out. Such a counter says of each tick what the sample at its end says, also where power changes from sample
// to sample; one that sees all of the time finds itself somewhere between the two samples then. Not thread-safe;
// whoever owns it takes turns. Bounded memory.
#pragma once

#include <zeus/units.hpp>

#include <cstdint>
#include <deque>
#include <optional>

namespace zeus::measure {

// Sums since the track began, up to one tick.
struct Unseen {
  bool suspected = false;
  double variance = 0;      // J^2, were every change missed by itself
  Joules alike;             // standard deviation, were all missed alike
  double own_variance = 0;  // J^2, of an edge
};

class UnseenTime {
 public:
  // A tick, its energy, and the sample of its end; `doubt` is the standard deviation of its mean power.
  void tick_came(std::uint64_t number, Watts mean, Watts doubt, Seconds length, Watts sample, Seconds window);
  // The next tick does not follow on the last one.
  void pause() { last_sample_.reset(); }

  [[nodiscard]] bool suspected() const;
  [[nodiscard]] Unseen up_to(std::uint64_t tick) const;

 private:
  struct Sum {
    std::uint64_t tick = 0;
    double variance = 0;
    Joules alike;
  };

  std::deque<Sum> sums_;
  std::optional<Watts> last_sample_;
  int matches_ = 0;  // changes in a row at which the counter said what the sample said
  double squared_change_ = 0;
  double changes_ = 0;
  Seconds length_;
};

}  // namespace zeus::measure
