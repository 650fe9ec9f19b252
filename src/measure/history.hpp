// The last ticks of one energy counter and the last power samples that the driver keeps beside it, with running totals.
// A plain value: where an edge lies, and how certain that is, are pure functions of it (edge.hpp, calibration.hpp).
// counter_track.hpp writes it.
#pragma once

#include "base/clock.hpp"
#include "device/stamped.hpp"
#include "measure/sensor_timing.hpp"
#include "measure/tick.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace zeus::measure {

// More than any GPU may draw, for GPUs that do not report their limit.
inline constexpr Watts most_of_any_gpu{1500};

// Consecutive samples of one value. They do not show when the sensor was updated; a change does.
struct SampleRun {
  Watts value;
  Instant first;
  Instant last;
};

struct History {
  static constexpr std::size_t ticks_kept = 48;
  static constexpr std::size_t runs_kept = 64;
  // A tick that was seen roughly is placed again by each of so many after it.
  static constexpr std::size_t placed_by = 12;

  // What is known of the device. Without a timing, or with one that covers all of the time, samples say nothing beyond
  // the counter.
  Joules resolution;
  std::optional<SensorTiming> timing;
  Watts most = most_of_any_gpu;  // that it may draw

  std::vector<Tick> ticks;  // oldest first
  std::size_t row = 0;      // how many of the last ones came without a pause up to now
  std::vector<SampleRun> runs;
  Instant latest_sample;          // the stamp after which samples are not known yet
  std::optional<Seconds> period;  // between ticks; nothing until two have been seen
  std::uint64_t epoch = 0;        // grows when the counter was reset: totals of two epochs are not to be subtracted

  // Oldest first; those already known are left out.
  void add(std::span<const device::Stamped<Watts>> samples);
  // The sample of each of the last ticks, as far as samples are known by now.
  void assign_samples();
  // Whether ticks to come may place this one more closely.
  [[nodiscard]] bool may_move(std::size_t tick) const;
  // How often the sensor is updated, as far as is known.
  [[nodiscard]] Seconds update() const;
  // What the sensor was updated to at this time. A value that changes at another time says that it was not.
  [[nodiscard]] std::optional<Watts> sample_at(Instant tick) const;
  // The mean of the samples of the last updates up to a time, as far as they are known.
  [[nodiscard]] std::optional<Watts> mean_before(Instant at) const;
};

}  // namespace zeus::measure
