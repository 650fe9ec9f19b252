// When an energy counter ticks, by all recent ticks together. Each tick came between two readings of the counter, which
// lie far apart if the reader was held up. But ticks come at even distances, so each bounds all the others, and a tick
// with a narrow bracket places its neighbours. A bracket is a fact, and so are the bounds of the period: no shorter
// than a time in which the counter stood still, no longer than the time around two ticks. Only the unevenness of ticks
// is learnt, from brackets that contradict one another. A value; not thread-safe. Bounded memory, none of it allocated.
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
  // The counter moved between two readings, perhaps more than once: when it did so last. `watched`: it was looked at
  // all the time since the tick told before. Returns when the tick came by all that is known now.
  Bracket tick_came(Bracket tick, bool watched);

  // When a tick came, by the one seen after it: some periods before that one. Unchanged if two places are left.
  [[nodiscard]] Bracket narrowed_by_next(const Bracket& tick, const Bracket& next) const;
  // When a tick came that was told before, by all that is known now.
  [[nodiscard]] Bracket narrowed(const Bracket& tick) const;

  // Time between ticks; nothing as long as it might be half of that or twice.
  [[nodiscard]] std::optional<Seconds> period() const;
  [[nodiscard]] Seconds period_doubt() const { return (longest_ - shortest_) * 0.5; }
  // The first tick expected after an instant; needs a period.
  [[nodiscard]] Bracket after(Instant instant) const;

 private:
  static constexpr std::size_t depth = 32;
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
  std::optional<Bracket> latest_;  // the tick told last, as it was seen
  // The period; 0 as long as nothing is known.
  Seconds shortest_;
  Seconds longest_;
  Seconds uneven_;     // how far ticks come from the grid
  double number_ = 0;  // of the latest tick that is on it for sure
  Bracket grid_;       // there
};

}  // namespace zeus::measure
