#include "records/power_profile.hpp"

#include "records/energy_json.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::records {

namespace {

constexpr std::uint32_t format_version = 1;
constexpr std::uint64_t most_settings = 10'000;

[[noreturn]] void refuse(const std::string& what) {
  throw Error{ErrorKind::corrupt_data, "this is not a power profile: " + what,
              "delete it, and it will be measured again"};
}

struct Weighted {
  double value = 0.0;
  double uncertainty = 0.0;
};

// Weights follow from certainty; what is certain beyond doubt on both sides (no uncertainty at all) counts by its
// steps.
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

PowerMeasurement merge(const PowerMeasurement& a, const PowerMeasurement& b) {
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

double number_at(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = object.at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    refuse(fmt::format("its '{}' is not a finite number", key));
  }
  return value.get<double>();
}

double positive_at(const nlohmann::json& object, const char* key) {
  const double number = number_at(object, key);
  if (!(number > 0.0)) {
    refuse(fmt::format("its '{}' is not above zero", key));
  }
  return number;
}

std::uint64_t count_at(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = object.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0) {
    refuse(fmt::format("its '{}' is not a whole number above zero", key));
  }
  return value.get<std::uint64_t>();
}

nlohmann::ordered_json json_of(const PowerMeasurement& m) {
  nlohmann::ordered_json object;
  object["limit_w"] = m.setting.limit.value();
  object["clock_mhz"] = nullptr;
  if (m.setting.clock) {
    object["clock_mhz"] = m.setting.clock->value();
  }
  object["steps"] = m.steps;
  object["step_time_s"] = m.step_time.value();
  object["step_time_uncertainty_s"] = m.step_time_uncertainty.value();
  object["step_energy_j"] = nlohmann::ordered_json::parse(to_json(m.step_energy));
  object["capped"] = nullptr;
  if (m.capped) {
    object["capped"] = *m.capped;
  }
  return object;
}

PowerMeasurement measurement_of(const nlohmann::json& object) {
  PowerMeasurement m;
  m.setting.limit = Watts{positive_at(object, "limit_w")};
  if (!object.at("clock_mhz").is_null()) {
    m.setting.clock = Megahertz{positive_at(object, "clock_mhz")};
  }
  m.steps = count_at(object, "steps");
  m.step_time = Seconds{positive_at(object, "step_time_s")};
  m.step_time_uncertainty = Seconds{number_at(object, "step_time_uncertainty_s")};
  if (m.step_time_uncertainty < Seconds{0}) {
    refuse("its 'step_time_uncertainty_s' is negative");
  }
  m.step_energy = energy_of(object.at("step_energy_j"));
  if (!(m.step_energy.value > Joules{0})) {
    refuse("its 'step_energy_j' is not above zero");
  }
  if (!object.at("capped").is_null()) {
    m.capped = number_at(object, "capped");
    if (*m.capped < 0.0 || *m.capped > 1.0) {
      refuse("its 'capped' is not a share between 0 and 1");
    }
  }
  return m;
}

PowerProfile profile_of(const nlohmann::json& object) {
  if (object.at("version") != format_version) {
    refuse(fmt::format("its version is not {}", format_version));
  }
  PowerProfile profile;
  profile.gpu = object.at("gpu").get<std::string>();
  const std::uint64_t gpus = count_at(object, "gpus");
  if (gpus > most_settings) {
    refuse("its 'gpus' is absurd");
  }
  profile.gpus = static_cast<std::uint32_t>(gpus);
  if (!object.at("batch_size").is_null()) {
    profile.batch_size = count_at(object, "batch_size");
  }
  profile.complete = object.at("complete").get<bool>();
  const nlohmann::json& measurements = object.at("measurements");
  if (!measurements.is_array() || measurements.size() > most_settings) {
    refuse(fmt::format("its 'measurements' are no list of at most {}", most_settings));
  }
  for (const nlohmann::json& measurement : measurements) {
    profile.measurements.push_back(measurement_of(measurement));
  }
  std::ranges::stable_sort(profile.measurements, comes_before);
  const auto same = [](const PowerMeasurement& a, const PowerMeasurement& b) { return a.setting == b.setting; };
  if (std::ranges::adjacent_find(profile.measurements, same) != profile.measurements.end()) {
    refuse("it has a setting twice");
  }
  return profile;
}

}  // namespace

PowerProfile merge(const PowerProfile& a, const PowerProfile& b) {
  if (a.gpu != b.gpu || a.gpus != b.gpus || a.batch_size != b.batch_size) {
    throw Error{
        ErrorKind::invalid_argument,
        fmt::format("the power profiles of {}x {} and {}x {} are of different things", a.gpus, a.gpu, b.gpus, b.gpu),
        "merge profiles of one GPU model, one number of GPUs and one batch size"};
  }
  PowerProfile both = a;
  both.complete = a.complete || b.complete;
  for (const PowerMeasurement& measurement : b.measurements) {
    const auto known = std::ranges::find(both.measurements, measurement.setting, &PowerMeasurement::setting);
    if (known == both.measurements.end()) {
      both.measurements.push_back(measurement);
    } else {
      *known = merge(*known, measurement);
    }
  }
  std::ranges::stable_sort(both.measurements, comes_before);
  return both;
}

std::string to_json(const PowerProfile& profile) {
  nlohmann::ordered_json object;
  object["version"] = format_version;
  object["gpu"] = profile.gpu;
  object["gpus"] = profile.gpus;
  object["batch_size"] = nullptr;
  if (profile.batch_size) {
    object["batch_size"] = *profile.batch_size;
  }
  object["complete"] = profile.complete;
  object["measurements"] = nlohmann::ordered_json::array();
  for (const PowerMeasurement& measurement : profile.measurements) {
    object["measurements"].push_back(json_of(measurement));
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

PowerProfile power_profile_from_json(std::string_view text) {
  try {
    return profile_of(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
}

}  // namespace zeus::records
