// Follows a cumulative energy counter that advances in ticks and records its history: turns readings into ticks, undoes
// wraps, detects resets, and tells when the next reading is most useful. Two or three readings per tick give each
// tick's time to about a hundredth of the period. Not thread-safe: the owner serializes calls. Bounded memory.
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
    broken,  // the counter went back, or further than any device could have drawn: the track has started again
  };

  // `timing` and `most` are for the history. `whose` differs between counters that are followed together.
  explicit CounterTrack(device::EnergyCounter counter, std::optional<SensorTiming> timing = {},
                        Watts most = most_of_any_gpu, std::uint32_t whose = 0);

  // `value` was read from the counter within `latency` around `at`. Readings that arrive out of order (from several
  // threads) are left out.
  Observation observe(Instant at, Seconds latency, Joules value);

  // The driver's samples, oldest first.
  void observe_samples(std::span<const device::Stamped<Watts>> samples) { history_.add(samples); }

  // No readings for a while: the next tick does not follow the last one. Totals continue from the last reading.
  void pause();

  // When to read next so that two close readings enclose the next tick.
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
  void place_unseen_tick();
  void place_rough_ticks();
  [[nodiscard]] bool seen_none() const { return history_.row == 0; }
  void push(const Tick& tick);
  void forget_oldest();
  [[nodiscard]] Seconds step() const;

  device::EnergyCounter counter_;
  std::uint32_t whose_;
  History history_;
  std::uint64_t next_number_ = 1;
  std::optional<RawReading> reading_;
  Joules total_;
  // The first reading after a pause, until the time of the tick whose value it shows is known.
  std::optional<RawReading> unseen_;
  bool unseen_placed_ = false;  // by the next tick; the second one after it corrects that
  Joules unseen_total_;
  Instant unseen_until_;  // no tick was seen between that reading and this instant
  Rhythm rhythm_;
  Seconds usually_late_;  // how long after they were due readings come
};

}  // namespace zeus::measure
