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

// What is known at one tick; two of them say what may have been missed in between.
struct Unseen {
  bool suspected = false;
  double variance = 0;      // J^2, sum since the track began: of where each change came, were each by itself
  double cycle = 0;         // ticks after which samples may be repeating; they miss the same in each cycle then
  Joules level;             // what the sample before the tick says of the time unseen
  double own_variance = 0;  // J^2, of an edge within the time unseen
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
  struct Seen {
    std::uint64_t tick = 0;
    Watts sample;
    double variance = 0;  // sum
  };

  [[nodiscard]] bool may_repeat_after(std::size_t ticks) const;
  [[nodiscard]] std::size_t shortest_cycle() const;

  std::deque<Seen> seen_;
  std::optional<Watts> last_sample_;
  int matches_ = 0;  // changes in a row at which the counter said what the sample said
  double squared_change_ = 0;
  double changes_ = 0;
  Seconds length_;  // of the time unseen in a tick
};

}  // namespace zeus::measure
