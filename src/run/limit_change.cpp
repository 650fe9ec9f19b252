#include "run/limit_change.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zeus::run {

namespace {

using optimize::RelativeChange;

std::optional<PowerSetting> highest_limit(const TrainingResult& result) {
  std::optional<PowerSetting> highest;
  for (const PowerMeasurement& one : result.profile.measurements) {
    if (!one.setting.clock && (!highest || one.setting.limit > highest->limit)) {
      highest = one.setting;
    }
  }
  return highest;
}

// The measurements that a change can be read from: a highest limit, and others.
struct Compared {
  std::vector<PowerMeasurement> known;
  std::size_t highest = 0;

  [[nodiscard]] std::optional<std::size_t> find(const PowerSetting& setting) const {
    const auto found = std::ranges::find(known, setting, &PowerMeasurement::setting);
    return found == known.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - known.begin())};
  }
  [[nodiscard]] optimize::StepChange change_to(std::size_t to) const {
    return optimize::step_change(known, highest, to);
  }
};

std::optional<Compared> compared(const TrainingResult& result) {
  const std::optional<PowerSetting> highest = highest_limit(result);
  Compared compared{.known = result.profile.measurements};
  std::erase_if(compared.known, [](const PowerMeasurement& one) {
    return !(one.step_time > Seconds{} && one.step_energy.value > Joules{});
  });
  const std::optional<std::size_t> found = highest ? compared.find(*highest) : std::nullopt;
  if (!found) {
    return std::nullopt;
  }
  compared.highest = *found;
  return compared;
}

std::uint64_t steps_of(const TrainingResult& result) {
  std::uint64_t steps = 0;
  for (const EpochReport& epoch : result.epochs) {
    steps += epoch.steps;
  }
  return steps;
}

// The steps in which a setting came into force are spread over the settings like those that were measured.
RelativeChange mean_change(const Compared& compared) {
  RelativeChange mean;
  double steps = 0.0;
  for (std::size_t i = 0; i < compared.known.size(); ++i) {
    const auto measured = static_cast<double>(compared.known[i].steps);
    steps += measured;
    if (i != compared.highest) {
      const RelativeChange energy = compared.change_to(i).energy;
      mean.value += measured * energy.value;
      mean.half_width += measured * energy.half_width;
    }
  }
  return {.value = mean.value / steps, .half_width = mean.half_width / steps};
}

void count_comparing(const TrainingResult& result, const Compared& compared, LimitChange& change) {
  const RelativeChange kept = change.step.energy;
  const RelativeChange mean = mean_change(compared);
  const Joules steps = compared.known[compared.highest].step_energy.value * static_cast<double>(result.profiling_steps);
  const Joules run = compared.known[compared.highest].step_energy.value * static_cast<double>(steps_of(result));
  change.comparing = {.energy = steps * (mean.value - kept.value),
                      .half_width = steps * std::hypot(mean.half_width, kept.half_width)};
  if (!kept.is_known() || kept.value > 0.0 || run <= Joules{}) {
    return;
  }
  const Joules least = std::max(change.comparing.energy - change.comparing.half_width, Joules{});
  const Joules most = std::max(change.comparing.energy + change.comparing.half_width, Joules{});
  change.regained = RunsToRegain{.least = least / (run * (kept.half_width - kept.value)),
                                 .most = most / (run * (-kept.value - kept.half_width))};
}

}  // namespace

bool kept_highest(const TrainingResult& result) {
  return result.optimum && result.optimum == highest_limit(result);
}

std::optional<LimitChange> limit_change(const TrainingResult& result) {
  const std::optional<Compared> all = compared(result);
  if (!result.optimum || !(result.applied || result.prediction) || !all || kept_highest(result)) {
    return std::nullopt;
  }
  const std::optional<std::size_t> kept = all->find(*result.optimum);
  if (!kept) {
    return std::nullopt;
  }
  LimitChange change{.setting = *result.optimum,
                     .highest = all->known[all->highest].setting.limit,
                     .step = all->change_to(*kept),
                     .comparing = {},
                     .regained = {}};
  if (result.applied) {
    count_comparing(result, *all, change);
  }
  return change;
}

std::optional<OtherLimit> next_lower_limit(const TrainingResult& result) {
  const std::optional<Compared> all = compared(result);
  if (!result.optimum || result.optimum->clock || !result.applied || !all) {
    return std::nullopt;
  }
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < all->known.size(); ++i) {
    const PowerSetting& setting = all->known[i].setting;
    if (!setting.clock && setting.limit < result.optimum->limit &&
        (!next || setting.limit > all->known[*next].setting.limit)) {
      next = i;
    }
  }
  if (!next) {
    return std::nullopt;
  }
  return OtherLimit{.setting = all->known[*next].setting,
                    .against = all->known[all->highest].setting.limit,
                    .step = all->change_to(*next)};
}

std::optional<OtherLimit> next_lower_limit(std::span<const records::LimitProfile> limits, Watts kept) {
  std::vector<PowerMeasurement> epochs;
  std::optional<std::size_t> next;
  for (const records::LimitProfile& one : limits) {
    if (!one.epoch_time_uncertainty || !one.average_power_uncertainty) {
      continue;
    }
    if (one.limit < kept) {
      next = epochs.size();
    }
    epochs.push_back({.setting = {.limit = one.limit},
                      .step_time = one.epoch_time,
                      .step_time_uncertainty = *one.epoch_time_uncertainty,
                      .step_energy = {.value = one.average_power * one.epoch_time,
                                      .uncertainty = *one.average_power_uncertainty * one.epoch_time}});
  }
  if (!next || *next + 1 == epochs.size()) {
    return std::nullopt;
  }
  return OtherLimit{.setting = epochs[*next].setting,
                    .against = epochs.back().setting.limit,
                    .step = optimize::step_change(epochs, epochs.size() - 1, *next)};
}

}  // namespace zeus::run
