#include "protocol/device_readings.hpp"

#include <algorithm>
#include <array>

namespace zeus::protocol {

namespace {

struct ReasonWord {
  ThrottleReason reason;
  std::string_view word;
};

constexpr std::array throttle_words{ReasonWord{ThrottleReason::idle, "idle"},
                                    ReasonWord{ThrottleReason::application_clocks, "application_clocks"},
                                    ReasonWord{ThrottleReason::power_cap, "power_cap"},
                                    ReasonWord{ThrottleReason::hardware_slowdown, "hardware_slowdown"},
                                    ReasonWord{ThrottleReason::sync_boost, "sync_boost"},
                                    ReasonWord{ThrottleReason::software_thermal, "software_thermal"},
                                    ReasonWord{ThrottleReason::hardware_thermal, "hardware_thermal"},
                                    ReasonWord{ThrottleReason::power_brake, "power_brake"},
                                    ReasonWord{ThrottleReason::display_clock, "display_clock"}};

constexpr std::size_t most_words = 64;

struct PartWord {
  GpuParts::Part part;
  std::string_view word;
};

constexpr std::array part_words{PartWord{GpuParts::energy, "energy"},
                                PartWord{GpuParts::power, "power"},
                                PartWord{GpuParts::limits, "limits"},
                                PartWord{GpuParts::clocks, "clocks"},
                                PartWord{GpuParts::state, "state"},
                                PartWord{GpuParts::persistence, "persistence"},
                                PartWord{GpuParts::supported_clocks, "supported_clocks"}};

}  // namespace

std::optional<std::uint32_t> GpuParts::read(std::string_view words) {
  std::uint32_t parts = 0;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    const auto found = std::ranges::find(part_words, words.substr(begin, end - begin), &PartWord::word);
    if (found == part_words.end()) {
      return std::nullopt;
    }
    parts |= found->part;
    begin = end + 1;
  }
  return parts;
}

std::string GpuParts::text(std::uint32_t parts) {
  std::string words;
  for (const auto& [part, word] : part_words) {
    if ((parts & part) != 0) {
      words += words.empty() ? "" : ",";
      words += word;
    }
  }
  return words;
}

ReportedLimits::ReportedLimits(const PowerLimits& limits, Moment moment)
    : current{limits.current, moment},
      standard{limits.standard, moment},
      minimum{limits.minimum, moment},
      maximum{limits.maximum, moment},
      enforced{limits.enforced, moment} {
}

PowerLimits ReportedLimits::limits() const {
  return {.current = current.reading(),
          .standard = standard.reading(),
          .minimum = minimum.reading(),
          .maximum = maximum.reading(),
          .enforced = enforced.reading()};
}

ReportedClocks::ReportedClocks(const device::Clocks& clocks, Moment moment)
    : graphics{clocks.graphics, moment},
      sm{clocks.sm, moment},
      memory{clocks.memory, moment},
      maximum_graphics{clocks.maximum_graphics, moment},
      maximum_memory{clocks.maximum_memory, moment} {
}

device::Clocks ReportedClocks::clocks() const {
  return {.graphics = graphics.reading(),
          .sm = sm.reading(),
          .memory = memory.reading(),
          .maximum_graphics = maximum_graphics.reading(),
          .maximum_memory = maximum_memory.reading()};
}

std::vector<std::string> words_of(ThrottleReasons reasons) {
  std::vector<std::string> words;
  for (const auto& [reason, word] : throttle_words) {
    if (reasons.has(reason)) {
      words.emplace_back(word);
    }
  }
  return words;
}

void write_json(records::JsonWriter& json, const ReportedThrottle& throttle) {
  json.tuple([&] {
    for (const std::string& word : words_of(throttle.reasons)) {
      json.value(word);
    }
  });
}

void read_json(const records::JsonValue& json, const records::JsonPlace& place, ReportedThrottle& throttle) {
  throttle.reasons = {};
  const records::JsonValue::List& words = records::read_list(json, place, {.members = most_words});
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& read = records::read_string(words[i], place.at(i));
    for (const auto& [reason, word] : throttle_words) {
      if (read == word) {
        throttle.reasons.add(reason);
      }
    }
  }
}

ReportedThrottleTimes::ReportedThrottleTimes(const device::ThrottleTimes& times, Seconds latency)
    : power_cap{times.power_cap, {.at = times.at, .latency = latency}},
      sync_boost{times.sync_boost, {.at = times.at, .latency = latency}},
      software_thermal{times.software_thermal, {.at = times.at, .latency = latency}},
      hardware_thermal{times.hardware_thermal, {.at = times.at, .latency = latency}},
      power_brake{times.power_brake, {.at = times.at, .latency = latency}} {
}

device::ThrottleTimes ReportedThrottleTimes::times() const {
  return {.at = power_cap.at,
          .power_cap = power_cap.reading(),
          .sync_boost = sync_boost.reading(),
          .software_thermal = software_thermal.reading(),
          .hardware_thermal = hardware_thermal.reading(),
          .power_brake = power_brake.reading()};
}

}  // namespace zeus::protocol
