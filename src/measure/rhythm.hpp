// The times at which an energy counter ticks, from all recent ticks together. Each tick came between two readings of
// the counter, which lie far apart if the reader was held up. But ticks come at even intervals, so each one bounds all
// the others, and a tick with a narrow bracket places its neighbours. Brackets are facts, and so are the bounds of the
// period: it is no shorter than a time in which the counter stood still, and no longer than the time around two ticks.
// Only the unevenness of ticks is learned, from brackets that contradict one another. A value; not thread-safe. Bounded
// memory, none of it allocated.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace zeus::measure {

// A moment within (earliest, latest].
struct Bracket {
  Instant earliest;
  Instant latest;

  [[nodiscard]] Instant middle() const { return earliest + (latest - earliest) * 0.5; }
  [[nodiscard]] Seconds width() const { return latest - earliest; }
};

class Rhythm {
 public:
  // Adds a tick: the counter moved within this bracket, perhaps more than once, and the last move counts. `watched`: it
  // was read without a pause since the tick before. Returns the bracket that all ticks together leave for it.
  Bracket tick_came(Bracket tick, bool watched);

  // The bracket that all ticks leave by now for one that was added before.
  [[nodiscard]] Bracket narrowed(const Bracket& tick) const;

  // The time between ticks; nothing while it might as well be half or twice as long.
  [[nodiscard]] std::optional<Seconds> period() const;
  [[nodiscard]] Seconds period_doubt() const { return (longest_ - shortest_) * 0.5; }
  // The first tick expected after an instant; needs a period.
  [[nodiscard]] Bracket after(Instant instant) const;

 private:
  static constexpr std::size_t depth = 12;
  struct Seen {
    double number = 0;  // counted from any one
    Bracket came;
  };

  [[nodiscard]] Bracket grid_at(double number) const;
  // How far from the grid a tick may have come.
  [[nodiscard]] Seconds around() const;
  [[nodiscard]] bool learn_grid();
  void bound_period(Seconds shortest, Seconds longest);
  void start_with(const Bracket& tick);
  void keep(double number, const Bracket& tick);
  [[nodiscard]] std::size_t least_needed() const;

  std::array<Seen, depth> seen_;
  std::size_t count_ = 0;
  std::optional<Bracket> latest_;  // the last tick added, as it was seen
  // Bounds of the period; 0 while nothing is known.
  Seconds shortest_;
  Seconds longest_;
  Seconds uneven_;     // how far ticks come from the grid
  double number_ = 0;  // of the latest tick that is certainly on the grid
  Bracket grid_;       // where the grid is at that number
};

}  // namespace zeus::measure
