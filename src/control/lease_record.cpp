#include "control/lease_record.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace zeus::control {

using device::ClockDomain;
using device::ClockRange;
using nlohmann::ordered_json;

namespace {

constexpr int version = 1;
constexpr std::array domains{ClockDomain::graphics, ClockDomain::sm, ClockDomain::memory};

Error corrupt(const std::string& what) {
  return Error{ErrorKind::corrupt_data, "this is not the record of a lease: " + what};
}

ordered_json to_object(const FoundClocks& clocks) {
  if (!clocks.known) {
    return "unknown";
  }
  if (!clocks.locked_to) {
    return "unlocked";
  }
  return {{"minimum_mhz", clocks.locked_to->minimum.value()}, {"maximum_mhz", clocks.locked_to->maximum.value()}};
}

double positive_at(const ordered_json& object, const char* key) {
  const double number = object.at(key).get<double>();
  if (!std::isfinite(number) || number <= 0) {
    throw corrupt(fmt::format("{} is not a positive number", key));
  }
  return number;
}

FoundClocks clocks_from(const ordered_json& value) {
  if (value == "unknown") {
    return {};
  }
  if (value == "unlocked") {
    return {.known = true, .locked_to = std::nullopt};
  }
  const ClockRange range{Megahertz{positive_at(value, "minimum_mhz")}, Megahertz{positive_at(value, "maximum_mhz")}};
  if (range.maximum < range.minimum) {
    throw corrupt("clocks locked to a range that ends before it begins");
  }
  return {.known = true, .locked_to = range};
}

Found found_from(const ordered_json& object) {
  Found found;
  if (object.contains("power_limit_w")) {
    found.power_limit = Watts{positive_at(object, "power_limit_w")};
  }
  for (const auto& [name, value] : object.at("clocks").items()) {
    bool known = false;
    for (const ClockDomain domain : domains) {
      if (name == to_string(domain)) {
        found.clocks[domain] = clocks_from(value);
        known = true;
      }
    }
    if (!known) {
      throw corrupt("there is no such clock domain");
    }
  }
  if (object.contains("persistence_mode")) {
    found.persistence_mode = object.at("persistence_mode").get<bool>();
  }
  return found;
}

template <typename T>
T whole_at(const ordered_json& object, const char* key) {
  const ordered_json& value = object.at(key);
  if (!value.is_number_unsigned()) {
    throw corrupt(fmt::format("{} is not a whole number from 0 up", key));
  }
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
    throw corrupt(fmt::format("{} is too large", key));
  }
  return static_cast<T>(number);
}

LeaseRecord record_from(const ordered_json& object) {
  if (whole_at<int>(object, "version") != version) {
    throw corrupt("it is of another version of Zeus");
  }
  const ordered_json& holder = object.at("holder");
  return {.gpu = object.at("gpu").get<std::string>(),
          .gpu_name = object.at("gpu_name").get<std::string>(),
          .boot = object.at("boot").get<std::string>(),
          .lease = whole_at<std::int64_t>(object, "lease"),
          .expires = Instant{whole_at<std::int64_t>(object, "expires_monotonic_ns")},
          .holder = {whole_at<std::int64_t>(holder, "pid"), whole_at<std::uint64_t>(holder, "started"),
                     holder.at("command").get<std::string>()},
          .found = found_from(object.at("found"))};
}

}  // namespace

std::string to_text(const Found& found) {
  std::vector<std::string> parts;
  if (found.power_limit) {
    parts.push_back(fmt::format("power limit {:.6g} W", found.power_limit->value()));
  }
  for (const auto& [domain, clocks] : found.clocks) {
    parts.push_back(clocks.locked_to ? fmt::format("{} clocks locked to {:.6g}-{:.6g} MHz", to_string(domain),
                                                   clocks.locked_to->minimum.value(), clocks.locked_to->maximum.value())
                                     : fmt::format("{} clocks unlocked", to_string(domain)));
  }
  if (found.persistence_mode) {
    parts.push_back(fmt::format("persistence mode {}", *found.persistence_mode ? "on" : "off"));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string to_json(const LeaseRecord& record) {
  ordered_json found;
  if (record.found.power_limit) {
    found["power_limit_w"] = record.found.power_limit->value();
  }
  found["clocks"] = ordered_json::object();
  for (const auto& [domain, clocks] : record.found.clocks) {
    found["clocks"][std::string{to_string(domain)}] = to_object(clocks);
  }
  if (record.found.persistence_mode) {
    found["persistence_mode"] = *record.found.persistence_mode;
  }
  const ordered_json holder{
      {"pid", record.holder.pid}, {"started", record.holder.started}, {"command", record.holder.command}};
  const ordered_json object{
      {"version", version},  {"gpu", record.gpu},     {"gpu_name", record.gpu_name},
      {"boot", record.boot}, {"lease", record.lease}, {"expires_monotonic_ns", record.expires.nanoseconds},
      {"holder", holder},    {"found", found}};
  // A command's name may be any bytes; what is not UTF-8 of it is replaced.
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

LeaseRecord lease_record_from_json(std::string_view text) {
  // Without exceptions, and so without the parser's own words as a cause: they say nothing to who has to act.
  const ordered_json object = ordered_json::parse(text, nullptr, false);
  if (object.is_discarded()) {
    throw corrupt("it is cut short, or no JSON");
  }
  std::optional<LeaseRecord> record;
  try {
    record = record_from(object);
  } catch (const nlohmann::json::exception&) {
    record = std::nullopt;
  }
  if (!record) {
    throw corrupt("a key is missing, or of another type");
  }
  return *record;
}

}  // namespace zeus::control
