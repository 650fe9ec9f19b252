// The load of a GPU over time: work of some kind, or simply a number of watts; constant, as a square wave, or from a
// table. Plain values, trivially copyable; safe to share between threads and to place in shared memory.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::physics {

enum class DemandKind : std::uint8_t {
  idle,   // nothing runs, and no context is open
  work,   // kernels
  power,  // draws a given power, as far as the limit allows; slows down under a limit like an ordinary kernel
};

struct Demand {
  DemandKind kind = DemandKind::idle;
  // For work, as at the highest clock: the share of time in which kernels run (otherwise the GPU waits for the host),
  // their power relative to the model's `dynamic` power, and the share of their time that does not depend on the clock.
  double busy = 0.0;
  double activity = 0.0;
  double memory = 0.0;
  // For power: the power without a limit; at least that of an idle GPU.
  Watts power;

  static Demand none() { return {}; }
  static Demand of_work(double busy, double activity, double memory) {
    return {.kind = DemandKind::work, .busy = busy, .activity = activity, .memory = memory};
  }
  static Demand of_power(Watts power) { return {.kind = DemandKind::power, .power = power}; }

  friend bool operator==(const Demand&, const Demand&) = default;
};

enum class LoadShape : std::uint8_t { constant, square, table };

// The demand from the load's event on. constant: always `first`. square: in each `period`, counted from `origin`,
// `first` for `first_lasts` and `second` for the rest. table: the session's table at the time since `origin`.
struct Load {
  LoadShape shape = LoadShape::constant;
  Demand first;
  Demand second;
  Instant origin;
  std::int64_t period_ns = 0;
  std::int64_t first_lasts_ns = 0;
  bool table_repeats = false;

  static Load constant(Demand demand) { return {.first = demand}; }
  // `low` for half of each period, then `high` for the other half.
  static Load square(Demand low, Demand high, Seconds period, Instant origin);
  static Load from_table(Instant origin, bool repeats) {
    return {.shape = LoadShape::table, .origin = origin, .table_repeats = repeats};
  }

  friend bool operator==(const Load&, const Load&) = default;
};

// `demand` from `after` (since the load's origin) until the next point. Before the first point the GPU is idle. After
// the last point it keeps the last demand; or, if the load repeats, it starts over at the last point's time, and the
// last point only marks the end.
struct TablePoint {
  Seconds after;
  Demand demand;
};

}  // namespace zeus::physics
