#include "records/power_profile.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::records {

namespace {

constexpr JsonForm profile_form{.refusal = "this is not a power profile",
                                .advice = "delete it, and it will be measured again"};

struct Weighted {
  double value = 0.0;
  double uncertainty = 0.0;
};

// Weights follow from certainty. If both values are exact (no uncertainty at all), each counts by its steps.
Weighted weigh(Weighted a, Weighted b, std::uint64_t steps_a, std::uint64_t steps_b) {
  const double square_a = a.uncertainty * a.uncertainty;
  const double square_b = b.uncertainty * b.uncertainty;
  if (square_a + square_b > 0.0) {
    const double share_a = square_b / (square_a + square_b);
    return {.value = share_a * a.value + (1.0 - share_a) * b.value,
            .uncertainty = std::sqrt(square_a * square_b / (square_a + square_b))};
  }
  const double share_a = static_cast<double>(steps_a) / (static_cast<double>(steps_a) + static_cast<double>(steps_b));
  return {.value = share_a * a.value + (1.0 - share_a) * b.value, .uncertainty = 0.0};
}

std::optional<double> weigh(std::optional<double> a, std::optional<double> b) {
  if (a && b) {
    return std::max(*a, *b);
  }
  return a ? a : b;
}

PowerMeasurement merge_measurements(const PowerMeasurement& a, const PowerMeasurement& b) {
  const Weighted time = weigh({a.step_time.value(), a.step_time_uncertainty.value()},
                              {b.step_time.value(), b.step_time_uncertainty.value()}, a.steps, b.steps);
  const Weighted energy = weigh({a.step_energy.value.value(), a.step_energy.uncertainty.value()},
                                {b.step_energy.value.value(), b.step_energy.uncertainty.value()}, a.steps, b.steps);
  PowerMeasurement both = a;
  both.steps = a.steps + b.steps;
  both.step_time = Seconds{time.value};
  both.step_time_uncertainty = Seconds{time.uncertainty};
  both.step_energy.value = Joules{energy.value};
  both.step_energy.uncertainty = Joules{energy.uncertainty};
  both.step_energy.systematic = std::nullopt;
  if (a.step_energy.systematic && b.step_energy.systematic) {
    both.step_energy.systematic = std::max(*a.step_energy.systematic, *b.step_energy.systematic);
  }
  both.step_energy.method = std::max(a.step_energy.method, b.step_energy.method);
  both.capped = weigh(a.capped, b.capped);
  return both;
}

// Limits before clocks, each from the highest down.
bool comes_before(const PowerMeasurement& a, const PowerMeasurement& b) {
  if (a.setting.clock.has_value() != b.setting.clock.has_value()) {
    return !a.setting.clock;
  }
  if (a.setting.limit != b.setting.limit) {
    return a.setting.limit > b.setting.limit;
  }
  return a.setting.clock && *a.setting.clock > *b.setting.clock;
}

}  // namespace

PowerProfile merge(const PowerProfile& a, const PowerProfile& b) {
  if (a.gpu != b.gpu || a.gpus != b.gpus || a.batch_size != b.batch_size) {
    throw Error{
        ErrorKind::invalid_argument,
        fmt::format("the power profiles of {}x {} and {}x {} do not belong together", a.gpus, a.gpu, b.gpus, b.gpu),
        "merge only profiles of the same GPU model, number of GPUs and batch size"};
  }
  PowerProfile both = a;
  both.complete = a.complete || b.complete;
  for (const PowerMeasurement& measurement : b.measurements) {
    const auto known = std::ranges::find(both.measurements, measurement.setting, &PowerMeasurement::setting);
    if (known == both.measurements.end()) {
      both.measurements.push_back(measurement);
    } else {
      *known = merge_measurements(*known, measurement);
    }
  }
  std::ranges::stable_sort(both.measurements, comes_before);
  return both;
}

std::string to_json(const PowerProfile& profile) {
  return json_line(profile);
}

PowerProfile power_profile_from_json(std::string_view text) {
  auto profile = record_from_json<PowerProfile>(text, profile_form);
  put_in_order(profile, JsonPlace{profile_form});
  return profile;
}

void put_in_order(PowerProfile& profile, const JsonPlace& place) {
  const bool certain = std::ranges::all_of(
      profile.measurements, [](const PowerMeasurement& one) { return one.step_energy.value > Joules{0}; });
  if (!certain) {
    place.refuse_as("the 'step_energy_j' of a measurement is not above zero");
  }
  std::ranges::stable_sort(profile.measurements, comes_before);
  if (std::ranges::adjacent_find(profile.measurements, {}, &PowerMeasurement::setting) != profile.measurements.end()) {
    place.refuse_as("it has the same setting twice");
  }
}

}  // namespace zeus::records
