#include "physics/sensors.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::physics {

namespace {

// The last update, at or before `now`, of a sensor with this period and phase.
Instant last_update(Instant now, Seconds period, Seconds phase) {
  const std::int64_t step = std::max<std::int64_t>(1, (Instant{} + period).nanoseconds);
  const std::int64_t since = now.nanoseconds - (Instant{} + phase).nanoseconds;
  const std::int64_t remainder = since % step;
  return {now.nanoseconds - (remainder < 0 ? remainder + step : remainder)};
}

}  // namespace

std::optional<EnergyReading> Sensors::counter(Instant now) const {
  const SensorModel& model = gpu_->model().sensors;
  if (!model.counter_present) {
    return std::nullopt;
  }
  const Instant updated = last_update(now, model.counter_period, model.phase);
  const CounterState state = gpu_->counter();
  if (state.frozen) {
    return EnergyReading{state.frozen_at, updated};
  }
  const Totals truth = gpu_->totals(updated);
  const Joules drawn =
      model.counter_part_time ? truth.seen * (model.counter_period / model.counter_window) : truth.energy;
  Joules value = drawn * model.gain + state.offset;
  value = std::max(value, Joules{0});
  if (state.wrap > Joules{0}) {
    value = Joules{std::fmod(value.value(), state.wrap.value())};
  }
  return EnergyReading{value, updated};
}

std::optional<PowerReading> Sensors::average(Instant now) const {
  const PowerSensor& sensor = gpu_->model().sensors.average;
  return sensor.present ? std::optional{read(sensor, now)} : std::nullopt;
}

std::optional<PowerReading> Sensors::instant(Instant now) const {
  const PowerSensor& sensor = gpu_->model().sensors.instant;
  return sensor.present ? std::optional{read(sensor, now)} : std::nullopt;
}

std::optional<PowerReading> Sensors::power(Instant now) const {
  return gpu_->model().sensors.plain == PowerReadingKind::average ? average(now) : instant(now);
}

std::size_t Sensors::samples(Instant now, Instant since, std::span<PowerReading> out) const {
  const SensorModel& model = gpu_->model().sensors;
  if (model.sample_depth == 0 || !model.instant.present) {
    return 0;
  }
  const Instant newest = last_update(now, model.sample_period, model.phase);
  Instant at = newest - model.sample_period * static_cast<double>(model.sample_depth - 1);
  std::size_t written = 0;
  for (std::uint32_t i = 0; i < model.sample_depth && written < out.size(); ++i, at = at + model.sample_period) {
    if (at > since) {
      out[written++] = {read(model.instant, at).value, at};
    }
  }
  return written;
}

PowerReading Sensors::read(const PowerSensor& sensor, Instant now) const {
  const SensorModel& model = gpu_->model().sensors;
  const Instant updated = last_update(now, sensor.period, model.phase);
  const Watts mean = gpu_->mean_power(updated - sensor.window, updated);
  return {mean * model.gain + model.offset, updated};
}

}  // namespace zeus::physics
