#include "control/lease_record.hpp"

#include <fmt/format.h>

#include <vector>

namespace zeus::control {

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

std::string to_text(const Claim& claim) {
  return claim.client ? fmt::format("{} for {}", to_text(claim.holder), to_text(*claim.client)) : to_text(claim.holder);
}

void write_json(records::JsonWriter& json, const FoundClocks& clocks) {
  if (clocks.locked_to) {
    json.value(*clocks.locked_to);
  } else {
    json.value(clocks.known ? "unlocked" : "unknown");
  }
}

void read_json(const records::JsonValue& json, const records::JsonPlace& place, FoundClocks& clocks) {
  clocks = {};
  const std::string* const word = json.string();
  if (word != nullptr && (*word == "unknown" || *word == "unlocked")) {
    clocks.known = *word == "unlocked";
    return;
  }
  clocks.known = true;
  read_value(json, place, clocks.locked_to.emplace());
  if (clocks.locked_to->maximum < clocks.locked_to->minimum) {
    place.refuse("a range that begins before it ends");
  }
}

std::string to_json(const LeaseRecord& record) {
  records::JsonWriter json{records::JsonWriter::Layout::indented};
  json.value(record);
  return json.take() + "\n";
}

LeaseRecord lease_record_from_json(std::string_view text) {
  return records::record_from_json<LeaseRecord>(
      text, {.refusal = "this is not the record of a lease", .not_json = "it is cut short, or not JSON"});
}

}  // namespace zeus::control
