// Follows a cumulative energy counter that advances in ticks, and writes down its history: turns readings into ticks,
// undoes wraps, sees resets, and says when the next reading would tell most. Two or three readings per tick suffice to
// know each tick's time to about a hundredth of the period. Not thread-safe; whoever owns it takes turns. Bounded
// memory.
#pragma once

#include "device/energy_counter.hpp"
#include "measure/history.hpp"
#include "measure/rhythm.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zeus::measure {

class CounterTrack {
 public:
  enum class Observation {
    first,  // nothing to compare with yet
    unchanged,
    ticked,
    broken,  // the counter went back, or further than any device could have drawn: the track has begun anew
  };

  // `timing` and `most` are for the history.
  explicit CounterTrack(device::EnergyCounter counter, std::optional<SensorTiming> timing = {},
                        Watts most = most_of_any_gpu);

  // `value` was read from the counter within `latency` around `at`. Readings that arrive out of order (from several
  // threads) are left out.
  Observation observe(Instant at, Seconds latency, Joules value);

  // Samples of the driver's, oldest first.
  void observe_samples(std::span<const device::Stamped<Watts>> samples) { history_.add(samples); }

  // Nobody looks for a while: the next tick does not follow on the last one. Totals go on from the last reading.
  void pause();

  // When to read next so that the coming tick is caught between two close readings.
  [[nodiscard]] Instant next_reading(Instant now) const;

  [[nodiscard]] const History& history() const { return history_; }
  // What the latest reading showed, and when that was; nothing before the first one.
  [[nodiscard]] std::optional<Joules> total() const { return reading_ ? std::optional{total_} : std::nullopt; }
  [[nodiscard]] std::optional<Instant> latest_reading() const {
    return reading_ ? std::optional{reading_->at} : std::nullopt;
  }

 private:
  struct RawReading {
    Instant at;
    Seconds latency;
    Joules value;
  };

  void begin_with(const RawReading& reading);
  void add_tick(Instant earliest, Instant latest);
  void narrow_tick_before();
  void place_unseen_tick();
  [[nodiscard]] bool seen_none() const { return history_.row == 0; }
  void push(const Tick& tick);
  void forget_oldest();
  [[nodiscard]] Seconds step() const;

  device::EnergyCounter counter_;
  History history_;
  std::uint64_t next_number_ = 1;
  std::optional<RawReading> reading_;
  Joules total_;
  // The tick whose value the first reading after a pause showed, while its time is not known yet.
  std::optional<RawReading> unseen_;
  bool unseen_placed_ = false;  // by one tick after it; the second one corrects that
  Joules unseen_total_;
  Instant unseen_until_;  // no tick was seen to come between that reading and this
  Rhythm rhythm_;
};

}  // namespace zeus::measure
