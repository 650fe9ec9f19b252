#include "trial/limit_slices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::trial {

namespace {

records::LimitProfile of_step(const PowerMeasurement& step) {
  return {.limit = step.setting.limit,
          .epoch_time = step.step_time,
          .average_power = step.step_energy.value / step.step_time,
          .epoch_time_uncertainty = step.step_time_uncertainty,
          .average_power_uncertainty = step.step_energy.uncertainty / step.step_time};
}

// How a limit affects what is beside the steps is unknown. It is mostly lighter work: half the effect on steps is never
// far off.
records::LimitProfile of_epoch(const records::LimitProfile& step, const records::LimitProfile& highest,
                               const EpochShape& shape) {
  const double beside = 0.5 * shape.beside_steps;
  const Seconds time = step.epoch_time + (step.epoch_time + highest.epoch_time) * beside;
  const Joules of_highest = highest.average_power * highest.epoch_time;
  const Joules of_step = step.average_power * step.epoch_time;
  const Joules energy = of_step + (of_step + of_highest) * beside;
  return records::scaled(step, shape.steps * (time / step.epoch_time), energy / time / step.average_power);
}

// Today's measurement `again` is a repetition of `known`: scales a profile to the night of `known`.
records::LimitProfile as_on_the_night_of(const records::LimitProfile& known, const records::LimitProfile& again,
                                         const records::LimitProfile& one) {
  records::LimitProfile then =
      records::scaled(one, known.epoch_time / again.epoch_time, known.average_power / again.average_power);
  if (then.epoch_time_uncertainty && again.epoch_time_uncertainty) {
    const Seconds by_again = then.epoch_time * (*again.epoch_time_uncertainty / again.epoch_time);
    then.epoch_time_uncertainty = Seconds{std::hypot(then.epoch_time_uncertainty->value(), by_again.value())};
  }
  if (then.average_power_uncertainty && again.average_power_uncertainty) {
    const Watts by_again = then.average_power * (*again.average_power_uncertainty / again.average_power);
    then.average_power_uncertainty = Watts{std::hypot(then.average_power_uncertainty->value(), by_again.value())};
  }
  return then;
}

}  // namespace

Seconds time_for_each_limit(Seconds wanted, std::optional<Seconds> run_time, std::size_t limits) {
  constexpr double with_settling = 1.25;
  constexpr double warm_up = 1.0;
  constexpr double part = 0.5;
  if (!run_time) {
    return wanted;
  }
  const Seconds fitting = *run_time * (part / (with_settling * static_cast<double>(limits) + warm_up));
  return std::min(wanted, std::max(fitting, shortest_slice));
}

std::vector<records::LimitProfile> limit_profiles(const PowerProfile& measured,
                                                  const std::optional<EpochShape>& shape) {
  std::vector<records::LimitProfile> profiles;
  for (const PowerMeasurement& one : measured.measurements) {
    if (!one.setting.clock) {
      profiles.push_back(of_step(one));
    }
  }
  std::ranges::sort(profiles, {}, &records::LimitProfile::limit);
  if (shape && !profiles.empty()) {
    const records::LimitProfile highest = profiles.back();
    for (records::LimitProfile& one : profiles) {
      one = of_epoch(one, highest, *shape);
    }
  }
  return profiles;
}

std::vector<Watts> Reference::add_to(std::vector<Watts> limits, const jobs::Try::Known& known, bool measured_before) {
  known_.reset();
  if (!measured_before && known.reference && std::ranges::find(limits, known.reference->limit) == limits.end()) {
    known_ = known.reference;
    limits.push_back(known_->limit);
  }
  return limits;
}

std::vector<records::LimitProfile> Reference::scale(std::vector<records::LimitProfile> tonight) const {
  if (!known_) {
    return tonight;
  }
  const auto again = std::ranges::find(tonight, known_->limit, &records::LimitProfile::limit);
  if (again == tonight.end()) {
    return {};
  }
  const records::LimitProfile repeated = *again;
  tonight.erase(again);
  for (records::LimitProfile& one : tonight) {
    one = as_on_the_night_of(*known_, repeated, one);
  }
  return tonight;
}

}  // namespace zeus::trial
