// What the sensors of a virtual GPU show at a time, by its sensor model: pure functions of its state, so that every
// process sees the same. Only reads, takes no lock; callable from any thread, beside a writer of the state.
#pragma once

#include "base/clock.hpp"
#include "physics/gpu.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace zeus::physics {

struct EnergyReading {
  Joules value;
  Instant updated;  // when the sensor last moved
};

struct PowerReading {
  Watts value;
  Instant updated;
};

class Sensors {
 public:
  explicit Sensors(const Gpu& gpu) : gpu_{&gpu} {}

  // Nothing if the model has no such sensor.
  [[nodiscard]] std::optional<EnergyReading> counter(Instant now) const;
  [[nodiscard]] std::optional<PowerReading> average(Instant now) const;
  [[nodiscard]] std::optional<PowerReading> instant(Instant now) const;
  // Average or instant, whichever the driver's plain power reading is.
  [[nodiscard]] std::optional<PowerReading> power(Instant now) const;
  // The samples in the driver's ring that were taken after `since`, oldest first. Returns how many were written: at
  // most the size of `out`, and then the oldest ones.
  std::size_t samples(Instant now, Instant since, std::span<PowerReading> out) const;

 private:
  [[nodiscard]] PowerReading read(const PowerSensor& sensor, Instant now) const;

  const Gpu* gpu_;
};

}  // namespace zeus::physics
