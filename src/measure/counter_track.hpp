// Follows a cumulative energy counter that advances in ticks: turns readings into ticks, undoes wraps, sees resets, and
// says when the next reading would tell most. Two or three readings per tick suffice to know each tick's time to about
// a hundredth of the period. Not thread-safe; whoever owns it takes turns. Bounded memory.
#pragma once

#include "device/energy_counter.hpp"
#include "measure/tick.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace zeus::measure {

class CounterTrack {
 public:
  static constexpr std::size_t depth = 48;  // ticks remembered

  enum class Observation {
    first,  // nothing to compare with yet
    unchanged,
    ticked,
    broken,  // the counter went back, or further than any device could have drawn: the track has begun anew
  };

  explicit CounterTrack(device::EnergyCounter counter) : counter_{counter} {}

  // `value` was read from the counter within `latency` around `at`. Readings that arrive out of order (from several
  // threads) are left out.
  Observation observe(Instant at, Seconds latency, Joules value);

  // Forgets the ticks but not their rhythm, after a time in which nobody looked. Totals go on from the last reading.
  void pause();

  // When to read next so that the coming tick is caught between two close readings.
  [[nodiscard]] Instant next_reading(Instant now) const;

  [[nodiscard]] const std::deque<Tick>& ticks() const { return ticks_; }
  // Grows with every break: totals of different epochs are not to be subtracted.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  // What the latest reading showed, and when that was; nothing before the first one.
  [[nodiscard]] std::optional<Joules> total() const { return reading_ ? std::optional{total_} : std::nullopt; }
  [[nodiscard]] std::optional<Instant> latest_reading() const {
    return reading_ ? std::optional{reading_->at} : std::nullopt;
  }
  // Time between ticks; nothing until two have been seen.
  [[nodiscard]] std::optional<Seconds> period() const { return period_; }

 private:
  struct RawReading {
    Instant at;
    Seconds latency;
    Joules value;
  };

  void begin_with(const RawReading& reading);
  // `late`: how long after it was due the reading was taken that shows the tick.
  void add_tick(Instant earliest, Instant latest, Seconds late);
  bool narrow_by_rhythm(Tick& tick) const;
  void learn_rhythm(const Tick& tick, bool looked_late);
  void start_rhythm(const Tick& tick, const Tick& before);
  void start_grid(const Tick& tick);
  void place_unseen_tick();
  [[nodiscard]] Seconds step() const;
  [[nodiscard]] Seconds rhythm_doubt(Instant expected) const;
  [[nodiscard]] Instant expected_after(Instant instant) const;

  device::EnergyCounter counter_;
  std::deque<Tick> ticks_;
  std::uint64_t next_number_ = 1;
  std::uint64_t epoch_ = 0;
  std::optional<RawReading> reading_;
  Joules total_;
  // The tick whose value the first reading after a pause showed, while its time is not known yet.
  std::optional<RawReading> unseen_;
  Joules unseen_total_;
  Instant unseen_until_;  // no tick was seen to come between that reading and this
  // The grid on which ticks have come so far.
  std::optional<Seconds> period_;
  double periods_behind_ = 0;  // over how many periods it was averaged
  Seconds period_doubt_;
  std::optional<Tick> anchor_;  // and since which
  Instant grid_;
  Seconds grid_error_;  // how far ticks lie off it, smoothed
};

}  // namespace zeus::measure
