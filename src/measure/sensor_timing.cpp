#include "measure/sensor_timing.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace zeus::measure {

namespace {

struct Known {
  std::string_view part_of_name;
  SensorTiming timing;
};

// "Accurate and Convenient Energy Measurements for GPUs" (SC'24) and its result sheet. GPUs whose samples cover all of
// the time show no more than their counter, and are left out.
constexpr std::array<Known, 9> known{{{"A100", {100_ms, 25_ms}},
                                      {"A30", {100_ms, 25_ms}},
                                      {"H100", {100_ms, 25_ms}},
                                      {"H200", {100_ms, 25_ms}},
                                      {"H800", {100_ms, 25_ms}},
                                      {"GH200", {100_ms, 25_ms}},
                                      {"V100", {20_ms, 10_ms}},
                                      {"TITAN V", {20_ms, 10_ms}},
                                      {"P100", {20_ms, 10_ms}}}};

}  // namespace

std::optional<SensorTiming> sensor_timing(const device::GpuIdentity& identity) {
  const auto* const found = std::ranges::find_if(
      known, [&](const Known& entry) { return identity.name.find(entry.part_of_name) != std::string::npos; });
  return found == known.end() ? std::nullopt : std::optional{found->timing};
}

}  // namespace zeus::measure
