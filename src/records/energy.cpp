#include "records/energy.hpp"

#include "records/energy_json.hpp"

#include <zeus/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace zeus::records {

namespace {

constexpr std::string_view expected_form =
    R"(expected {"value":J,"uncertainty":J,"systematic":J or null,"method":"counter"|"integrated"|"estimate"})";

double number_at(const nlohmann::json& object, const char* key) {
  const double number = object.at(key).get<double>();
  if (!std::isfinite(number)) {
    throw Error{ErrorKind::corrupt_data, std::string{"the energy's "} + key + " is not a finite number"};
  }
  return number;
}

Joules bound_at(const nlohmann::json& object, const char* key) {
  const Joules bound{number_at(object, key)};
  if (bound < Joules{0}) {
    throw Error{ErrorKind::corrupt_data, std::string{"the energy's "} + key + " is negative"};
  }
  return bound;
}

}  // namespace

std::string_view to_string(EnergyMethod method) {
  switch (method) {
    case EnergyMethod::counter:
      return "counter";
    case EnergyMethod::integrated:
      return "integrated";
    case EnergyMethod::estimate:
      return "estimate";
  }
  return "estimate";
}

std::optional<EnergyMethod> energy_method_from(std::string_view text) {
  for (const EnergyMethod method : {EnergyMethod::counter, EnergyMethod::integrated, EnergyMethod::estimate}) {
    if (text == to_string(method)) {
      return method;
    }
  }
  return std::nullopt;
}

Energy operator+(const Energy& a, const Energy& b) {
  Energy sum{.value = a.value + b.value,
             .uncertainty = Joules{std::hypot(a.uncertainty.value(), b.uncertainty.value())},
             .systematic = std::nullopt,
             .method = std::max(a.method, b.method)};
  if (a.systematic && b.systematic) {
    sum.systematic = *a.systematic + *b.systematic;
  }
  return sum;
}

nlohmann::ordered_json json_of(const Energy& energy) {
  nlohmann::ordered_json object;
  object["value"] = energy.value.value();
  object["uncertainty"] = energy.uncertainty.value();
  object["systematic"] = nullptr;
  if (energy.systematic) {
    object["systematic"] = energy.systematic->value();
  }
  object["method"] = to_string(energy.method);
  return object;
}

std::string to_json(const Energy& energy) {
  return json_of(energy).dump();
}

Energy energy_of(const nlohmann::json& object) {
  try {
    Energy energy{.value = Joules{number_at(object, "value")},
                  .uncertainty = bound_at(object, "uncertainty"),
                  .systematic = std::nullopt,
                  .method = EnergyMethod::counter};
    if (!object.at("systematic").is_null()) {
      energy.systematic = bound_at(object, "systematic");
    }
    const auto method = energy_method_from(object.at("method").get<std::string>());
    if (!method) {
      throw Error{ErrorKind::corrupt_data, "the energy's method is unknown", std::string{expected_form}};
    }
    energy.method = *method;
    return energy;
  } catch (const nlohmann::json::exception&) {
    throw Error{ErrorKind::corrupt_data, "this is not an energy", std::string{expected_form}};
  }
}

Energy energy_from_json(std::string_view text) {
  return energy_of(nlohmann::json::parse(text, nullptr, false));
}

}  // namespace zeus::records
