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
  // Each of this many later ticks places a roughly seen tick again.
  static constexpr std::size_t placed_by = 12;

  // What is known of the device. Without a timing, or with one that covers all of the time, samples say nothing beyond
  // the counter.
  Joules resolution;
  std::optional<SensorTiming> timing;
  Watts most = most_of_any_gpu;  // the most that it may draw

  std::vector<Tick> ticks;  // oldest first
  std::size_t row = 0;      // how many of the last ticks came without a pause
  std::vector<SampleRun> runs;
  Instant latest_sample;          // the timestamp of the latest sample
  std::optional<Seconds> period;  // between ticks; nothing until two were seen in time
  std::uint64_t epoch = 0;        // grows when the counter was reset: do not subtract totals of two epochs

  // Adds samples, oldest first; leaves out those already known.
  void add(std::span<const device::Stamped<Watts>> samples);
  // Gives each of the last ticks its sample, as far as samples are known by now.
  void assign_samples();
  // Whether later ticks may still place this one more closely.
  [[nodiscard]] bool may_move(std::size_t tick) const;
  // How often the sensor is updated, as far as is known.
  [[nodiscard]] Seconds update() const;
  // The value to which the sensor was updated at this time; nothing if its value changed at another time.
  [[nodiscard]] std::optional<Watts> sample_at(Instant tick) const;
  // The mean of the samples of the last updates up to a time, as far as they are known.
  [[nodiscard]] std::optional<Watts> mean_before(Instant at) const;
};

}  // namespace zeus::measure
