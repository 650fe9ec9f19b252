#include "optimize/power_limit/goal.hpp"

#include "base/portable_math.hpp"
#include "optimize/power_limit/choice.hpp"
#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

using records::PowerMeasurement;
using records::PowerSetting;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

Seconds deviation(const PowerMeasurement& m) {
  return m.step_time_uncertainty / records::normal_95;
}

bool surely_fast_enough(const PowerMeasurement& one, const PowerMeasurement& fastest, const MaxSlowdown& bound) {
  if (one.setting == fastest.setting) {
    return true;
  }
  const Seconds excess = one.step_time - bound.factor * fastest.step_time;
  const double spread = std::hypot(deviation(one).value(), bound.factor * deviation(fastest).value());
  return excess.value() + portable::normal_quantile(bound.confidence) * spread <= 0.0;
}

const PowerMeasurement& fastest_of(std::span<const PowerMeasurement> measurements) {
  return *std::ranges::min_element(measurements, {}, &PowerMeasurement::step_time);
}

std::optional<PowerSetting> choose_within(const MaxSlowdown& bound, std::span<const PowerMeasurement> measurements) {
  const PowerMeasurement* best = nullptr;
  for (const PowerMeasurement& one : measurements) {
    if (surely_fast_enough(one, fastest_of(measurements), bound) &&
        (best == nullptr || one.step_energy.value < best->step_energy.value)) {
      best = &one;
    }
  }
  return best == nullptr ? std::nullopt : std::optional{best->setting};
}

void check_confidence(const MaxSlowdown& bound) {
  if (!(bound.confidence > 0.0 && bound.confidence < 1.0)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the confidence of the slowdown bound is {}", bound.confidence),
                "give a number between 0 and 1, such as 0.95"};
  }
}

}  // namespace

Selector selector_of(const PowerGoal& goal, const EnergyTimeCost& cost) {
  return std::visit(
      Overloaded{[](const LeastTime&) { return select_time(); }, [](const LeastEnergy&) { return select_energy(); },
                 [&](const LeastCost&) -> Selector {
                   return [cost](std::span<const records::LimitProfile> profiles) {
                     return cheapest_limit(cost, profiles);
                   };
                 },
                 [](const MaxSlowdown& bound) {
                   check_confidence(bound);
                   return select_max_slowdown(bound.factor);
                 },
                 [](const PowerSelector& own) -> Selector {
                   if (!own) {
                     throw Error{ErrorKind::invalid_argument, "the power-limit selector is empty", "give a function"};
                   }
                   return own;
                 }},
      goal);
}

std::optional<PowerSetting> choose_setting(const PowerGoal& goal, const EnergyTimeCost& cost,
                                           std::span<const PowerMeasurement> measurements) {
  if (const auto* const bound = std::get_if<MaxSlowdown>(&goal); bound != nullptr && !measurements.empty()) {
    return choose_within(*bound, measurements);
  }
  return choose(selector_of(goal, cost), measurements);
}

std::vector<PowerSetting> undecided(const PowerGoal& goal, const PowerSetting& choice,
                                    std::span<const PowerMeasurement> measurements) {
  std::vector<PowerSetting> open;
  const auto* const bound = std::get_if<MaxSlowdown>(&goal);
  if (bound == nullptr) {
    return open;
  }
  const PowerMeasurement& fastest = fastest_of(measurements);
  const PowerMeasurement& chosen = *std::ranges::find(measurements, choice, &PowerMeasurement::setting);
  for (const PowerMeasurement& one : measurements) {
    if (one.step_energy.value < chosen.step_energy.value && one.step_time <= bound->factor * fastest.step_time) {
      open.push_back(one.setting);
    }
  }
  if (!open.empty()) {
    open.push_back(fastest.setting);
  }
  return open;
}

}  // namespace zeus::optimize
