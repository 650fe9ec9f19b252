#include "optimize/power_limit/choice.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace zeus::optimize {

records::PowerMeasurement measurement_of(const Slice& slice) {
  const double steps = slice.measure;
  records::PowerMeasurement measurement{.setting = slice.setting,
                                        .steps = slice.measure,
                                        .step_time = slice.reading.time / steps,
                                        .step_time_uncertainty = slice.reading.time_uncertainty / steps,
                                        .step_energy = slice.reading.energy,
                                        .capped = slice.reading.capped};
  measurement.step_energy.value /= steps;
  measurement.step_energy.uncertainty /= steps;
  if (measurement.step_energy.systematic) {
    *measurement.step_energy.systematic /= steps;
  }
  return measurement;
}

std::optional<records::PowerSetting> choose(const Selector& selector,
                                            std::span<const records::PowerMeasurement> measurements) {
  if (measurements.empty()) {
    return std::nullopt;
  }
  std::vector<records::LimitProfile> profiles;
  profiles.reserve(measurements.size());
  for (const records::PowerMeasurement& m : measurements) {
    profiles.push_back(
        {.limit = m.setting.limit, .epoch_time = m.step_time, .average_power = m.step_energy.value / m.step_time});
  }
  return measurements[select(selector, profiles)].setting;
}

void check(const SliceReading& reading, const records::PowerSetting& setting) {
  const auto refuse = [&](const char* what, double value) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the slice at {} W reports a {} of {}", setting.limit.value(), what, value),
                "report what the window measured, or call on_slice_lost if it measured nothing"};
  };
  const auto positive = [&](const char* what, double value) {
    if (!std::isfinite(value) || !(value > 0.0)) {
      refuse(what, value);
    }
  };
  const auto doubt = [&](const char* what, double value) {
    if (!std::isfinite(value) || value < 0.0) {
      refuse(what, value);
    }
  };
  positive("time", reading.time.value());
  doubt("time uncertainty", reading.time_uncertainty.value());
  positive("energy", reading.energy.value.value());
  doubt("energy uncertainty", reading.energy.uncertainty.value());
  if (reading.capped && !(*reading.capped >= 0.0 && *reading.capped <= 1.0)) {
    refuse("capped share", *reading.capped);
  }
}

}  // namespace zeus::optimize
