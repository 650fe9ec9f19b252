#include "run/limit_change.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace zeus::run {

namespace {

std::optional<PowerSetting> highest_limit(const TrainingResult& result) {
  std::optional<PowerSetting> highest;
  for (const PowerMeasurement& one : result.profile.measurements) {
    if (!one.setting.clock && (!highest || one.setting.limit > highest->limit)) {
      highest = one.setting;
    }
  }
  return highest;
}

}  // namespace

bool kept_highest(const TrainingResult& result) {
  return result.optimum && result.optimum == highest_limit(result);
}

std::optional<LimitChange> limit_change(const TrainingResult& result) {
  const std::optional<PowerSetting> highest = highest_limit(result);
  if (!result.optimum || !result.applied || !highest || result.optimum == highest) {
    return std::nullopt;
  }
  std::vector<PowerMeasurement> known = result.profile.measurements;
  std::erase_if(known, [](const PowerMeasurement& one) {
    return !(one.step_time > Seconds{} && one.step_energy.value > Joules{});
  });
  const auto from = std::ranges::find(known, *highest, &PowerMeasurement::setting);
  const auto to = std::ranges::find(known, *result.optimum, &PowerMeasurement::setting);
  if (from == known.end() || to == known.end()) {
    return std::nullopt;
  }
  return LimitChange{.setting = *result.optimum,
                     .highest = highest->limit,
                     .step = optimize::step_change(known, static_cast<std::size_t>(from - known.begin()),
                                                   static_cast<std::size_t>(to - known.begin()))};
}

}  // namespace zeus::run
