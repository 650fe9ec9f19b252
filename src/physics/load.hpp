// What is asked of a GPU, and when: work of a certain character, or simply so many watts; constant, as a square wave,
// or by a table. Plain values, trivially copyable; safe to share between threads and to place in shared memory.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::physics {

enum class DemandKind : std::uint8_t {
  idle,   // nothing, and no context is open
  work,   // kernels
  power,  // draws what it is told to, as far as the limit allows; slows down under a limit as an ordinary kernel does
};

struct Demand {
  DemandKind kind = DemandKind::idle;
  // Of work. At the highest clock: the share of time in which kernels run (the rest waits for the host), what they draw
  // relative to the model's `dynamic` power, and the share of the kernels' time that does not depend on the clock.
  double busy = 0.0;
  double activity = 0.0;
  double memory = 0.0;
  // Of power: what is drawn without a limit; at least what an idle GPU draws.
  Watts power;

  static Demand none() { return {}; }
  static Demand of_work(double busy, double activity, double memory) {
    return {.kind = DemandKind::work, .busy = busy, .activity = activity, .memory = memory};
  }
  static Demand of_power(Watts power) { return {.kind = DemandKind::power, .power = power}; }

  friend bool operator==(const Demand&, const Demand&) = default;
};

enum class LoadShape : std::uint8_t { constant, square, table };

// From its event on: `first` all the time; or, counted from `origin`, `first` for `first_lasts` and then `second` for
// the rest of each `period`; or what the table of the session says for the time since `origin`.
struct Load {
  LoadShape shape = LoadShape::constant;
  Demand first;
  Demand second;
  Instant origin;
  std::int64_t period_ns = 0;
  std::int64_t first_lasts_ns = 0;
  bool table_repeats = false;

  static Load constant(Demand demand) { return {.first = demand}; }
  // Half of each period `low`, then half `high`.
  static Load square(Demand low, Demand high, Seconds period, Instant origin);
  static Load from_table(Instant origin, bool repeats) {
    return {.shape = LoadShape::table, .origin = origin, .table_repeats = repeats};
  }

  friend bool operator==(const Load&, const Load&) = default;
};

// From `after` (since the load's origin) until the next point: `demand`. Before the first point the GPU is idle; after
// the last one it keeps the last demand, or starts over at the last point's time when the load repeats (the last point
// then only marks the end).
struct TablePoint {
  Seconds after;
  Demand demand;
};

}  // namespace zeus::physics
