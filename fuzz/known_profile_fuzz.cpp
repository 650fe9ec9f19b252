// A profile from which a session continues. Whatever measurements a file claims, the plan asks only for settings in its
// range, ends, and keeps finite numbers.

#include "optimize/power_limit/goal_plan.hpp"
#include "train/profile_file.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using zeus::optimize::SettingRange;

constexpr int more_than_any_plan_takes = 400;

zeus::optimize::Slice measured_slice(const zeus::optimize::SliceRequest& request, std::uint64_t begin) {
  const double steps = request.measure;
  zeus::optimize::Slice slice{.setting = request.setting, .measure = request.measure, .begin = begin, .reading = {}};
  slice.reading.time = zeus::Seconds{0.1 * steps};
  slice.reading.energy.value = request.setting.limit * zeus::Seconds{0.1 * steps};
  slice.reading.energy.uncertainty = slice.reading.energy.value * 0.01;
  return slice;
}

void check_measurements(const zeus::optimize::PowerLimitPlan& plan, const SettingRange& range) {
  for (const zeus::PowerMeasurement& one : plan.measurements()) {
    const auto limits = range.limits();
    if (std::ranges::find(limits, one.setting.limit) == limits.end() || !std::isfinite(one.step_time.value()) ||
        !std::isfinite(one.step_energy.value.value())) {
      std::abort();
    }
  }
}

void go_on_from(const zeus::PowerProfile& profile, const zeus::PowerGoal& goal) {
  const SettingRange range{{zeus::Watts{250}, zeus::Watts{200}, zeus::Watts{150}, zeus::Watts{100}}, {}};
  const auto plan = zeus::optimize::make_plan(range, {.goal = goal,
                                                      .profiling = {},
                                                      .cost = zeus::optimize::EnergyTimeCost{0.5, zeus::Watts{250}},
                                                      .training_steps = {},
                                                      .known = profile,
                                                      .predicted_from = {}});
  std::uint64_t begin = 0;
  for (int slices = 0; const auto request = plan->next(); ++slices) {
    if (slices == more_than_any_plan_takes) {
      std::abort();
    }
    begin += request->settle;
    plan->measured(measured_slice(*request, begin));
    begin += request->measure;
    check_measurements(*plan, range);
  }
  check_measurements(*plan, range);
  static_cast<void>(plan->optimum());
}

}  // namespace

extern "C" int fuzz_known_profile(const std::uint8_t* data, std::size_t size) {
  std::vector<zeus::PowerProfile> profiles;
  try {
    profiles = zeus::train::profiles_from_json({reinterpret_cast<const char*>(data), size});
  } catch (const zeus::Error&) {
    return 0;
  }
  for (const zeus::PowerProfile& profile : profiles) {
    go_on_from(profile, zeus::LeastCost{});
    go_on_from(profile, zeus::MaxSlowdown{});
  }
  return 0;
}
