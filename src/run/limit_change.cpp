#include "run/limit_change.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace zeus::run {

std::optional<LimitChange> limit_change(const TrainingResult& result) {
  if (!result.optimum || !result.applied || result.optimum->clock) {
    return std::nullopt;
  }
  std::vector<PowerMeasurement> limits;
  for (const PowerMeasurement& one : result.profile.measurements) {
    if (!one.setting.clock) {
      limits.push_back(one);
    }
  }
  std::ranges::sort(limits, {}, [](const PowerMeasurement& one) { return one.setting.limit; });
  const auto chosen = std::ranges::find(limits, *result.optimum, &PowerMeasurement::setting);
  if (chosen == limits.end() || chosen->setting == limits.back().setting) {
    return std::nullopt;
  }
  return LimitChange{
      .limit = chosen->setting.limit,
      .highest = limits.back().setting.limit,
      .step = optimize::step_change(limits, limits.size() - 1, static_cast<std::size_t>(chosen - limits.begin()))};
}

}  // namespace zeus::run
