#include "optimize/power_limit/prediction.hpp"

#include "optimize/power_limit/limit_curve.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

// What no profile shows: the time that setting a limit takes, and that later steps may differ from the profiled ones.
constexpr double least_doubt = 0.001;
// Work that draws this share of a limit on average counts as held back by it at times.
constexpr double share_when_held_at_times = 0.95;

const records::PowerMeasurement* find(const records::PowerProfile& profile,
                                      const std::optional<records::PowerSetting>& setting) {
  const auto found = std::ranges::find_if(profile.measurements,
                                          [&](const records::PowerMeasurement& m) { return setting == m.setting; });
  return found == profile.measurements.end() ? nullptr : &*found;
}

// A quantity at the optimum: the factor by which it changes, or its value per step, with the relative half-width of its
// interval.
struct Change {
  double factor = 1;
  double doubt = 0;
};

Change ratio(double to, double to_doubt, double from, double from_doubt) {
  return {.factor = to / from, .doubt = std::hypot(to_doubt / to, from_doubt / from)};
}

struct Changes {
  Change time;
  Change energy;
};

Changes changes(const records::PowerProfile& profile, const records::PowerMeasurement& optimum,
                const records::PowerMeasurement& base) {
  if (optimum.setting == base.setting) {
    return {};
  }
  Changes changes{.time = ratio(optimum.step_time.value(), optimum.step_time_uncertainty.value(),
                                base.step_time.value(), base.step_time_uncertainty.value()),
                  .energy = ratio(optimum.step_energy.value.value(), optimum.step_energy.uncertainty.value(),
                                  base.step_energy.value.value(), base.step_energy.uncertainty.value())};
  // Steps scatter from slice to slice, which no slice alone shows but all settings together.
  if (const std::optional<StepChange> profiled = step_change(profile, base.setting, optimum.setting)) {
    changes.time.doubt = std::max(changes.time.doubt, profiled->time.half_width / (1 + profiled->time.value));
    changes.energy.doubt = std::max(changes.energy.doubt, profiled->energy.half_width / (1 + profiled->energy.value));
  }
  return changes;
}

// What a step takes under the setting found: the profile's measurement, or else the run's own mean if that setting was
// not profiled.
records::PowerMeasurement base_step(const Taken& steps, const records::PowerMeasurement* profiled,
                                    const records::PowerMeasurement& optimum) {
  records::PowerMeasurement base = profiled != nullptr ? *profiled : optimum;
  if (profiled == nullptr && steps.steps > 0) {
    const auto count = static_cast<double>(steps.steps);
    base.setting = {};
    base.step_time = steps.time / count;
    base.step_time_uncertainty = Seconds{0};
    base.step_energy.value = steps.energy->value / count;
    base.step_energy.uncertainty = steps.energy->uncertainty / count;
  }
  return base;
}

}  // namespace

std::optional<TrainingPrediction> predict(const ObservedRun& run, const records::PowerProfile& profile,
                                          const std::optional<records::PowerSetting>& optimum,
                                          const EnergyTimeCost& price, std::string& why_not) {
  const records::PowerMeasurement* const best = find(profile, optimum);
  if (best == nullptr) {
    why_not = "no profile is complete";
    return std::nullopt;
  }
  if (!run.steps.energy || !run.slices.energy || !run.rest.energy) {
    why_not = "the energy of the run is not known";
    return std::nullopt;
  }
  const Taken& steps = run.steps;
  const Taken& rest = run.rest;
  const Energy& measured_energy = *steps.energy;
  const std::uint64_t count = steps.steps + run.slices.steps;
  if (count == 0) {
    why_not = "there were no steps";
    return std::nullopt;
  }
  const records::PowerMeasurement base = base_step(steps, find(profile, run.found), *best);
  const Changes change = changes(profile, *best, base);
  // All steps at the setting found: steps outside of slices as they ran, steps of slices at the same cost.
  const bool enough = steps.steps > 0;
  const double all = enough ? static_cast<double>(count) / static_cast<double>(steps.steps) : 0.0;
  const Seconds steps_time = enough ? steps.time * all : base.step_time * static_cast<double>(count);
  const Joules steps_energy =
      enough ? measured_energy.value * all : base.step_energy.value * static_cast<double>(count);

  const Watts rest_power = rest.time > Seconds{0} ? rest.energy->value / rest.time : Watts{0};
  const bool held = rest_power > share_when_held_at_times * best->setting.limit * std::max(run.gpus, 1U);
  const Change none;
  const Change& rest_time = held ? change.time : none;
  const Change& rest_energy = held ? change.energy : none;

  TrainingPrediction result;
  result.setting = best->setting;
  const Seconds time_of_steps = steps_time * change.time.factor;
  const Seconds time_of_rest = rest.time * rest_time.factor;
  const Joules energy_of_steps = steps_energy * change.energy.factor;
  const Joules energy_of_rest = rest.energy->value * rest_energy.factor;
  result.time = time_of_steps + time_of_rest;
  result.time_uncertainty =
      time_of_steps * change.time.doubt + time_of_rest * rest_time.doubt + result.time * least_doubt;
  result.energy = measured_energy;
  if (run.slices.steps > 0) {
    result.energy.method = std::max(result.energy.method, run.slices.energy->method);
  }
  result.energy.value = energy_of_steps + energy_of_rest;
  const Joules from_profile =
      energy_of_steps * change.energy.doubt + energy_of_rest * rest_energy.doubt + result.energy.value * least_doubt;
  const Joules measured = measured_energy.uncertainty * all * change.energy.factor + rest.energy->uncertainty;
  result.energy.uncertainty = Joules{std::hypot(from_profile.value(), measured.value())};
  result.cost = price.of(result.energy.value, result.time);
  result.cost_uncertainty = Joules{std::hypot(price.of(result.energy.uncertainty, Seconds{0}).value(),
                                              price.of(Joules{0}, result.time_uncertainty).value())};
  return result;
}

}  // namespace zeus::optimize
