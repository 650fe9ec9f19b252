// What a training has come to so far, and what another epoch would cost.
#include "optimize/power_limit/goal.hpp"
#include "optimize/power_limit/prediction.hpp"
#include "train/running.hpp"

#include <algorithm>

namespace zeus::train {

void Running::write_down(EpochReport& report, const Parts& parts) const {
  const Amount all = total(parts);
  report.time = all.time;
  report.steps_time = all.time - parts[static_cast<std::size_t>(Part::rest)].time;
  report.steps = all.steps;
  report.energy = all.known && fleet_->gpus > 0 ? std::optional{all.energy} : std::nullopt;
  report.cost = cost_of(all);
}

std::optional<Joules> Running::cost_of(const Amount& amount) const {
  return amount.known && price_ ? std::optional{price_->of(amount.energy.value, amount.time)} : std::nullopt;
}

std::optional<Joules> Running::next_cost() const {
  if (tuner_->profiling() || epochs_.empty()) {
    return std::nullopt;
  }
  if (settled_epoch_) {
    return settled_epoch_;
  }
  const std::optional<PowerSetting> optimum = tuner_->optimum();
  if (!optimum || !tuner_->applied() || !price_) {
    return std::nullopt;
  }
  // The epoch that profiled, at the optimum.
  const records::PowerProfile profile = tuner_->profile();
  for (const PowerMeasurement& m : profile.measurements) {
    if (m.setting == *optimum) {
      const auto steps = static_cast<double>(epochs_.back().steps);
      const Amount& rest = epoch_parts_.back()[static_cast<std::size_t>(Part::rest)];
      return price_->of(m.step_energy.value * steps + rest.energy.value, m.step_time * steps + rest.time);
    }
  }
  return std::nullopt;
}

Progress Running::progress_so_far() const {
  Progress so_far{.epochs = epochs_.size(), .metric = best_metric_, .cost = Joules{0}, .next_cost = next_cost()};
  for (const EpochReport& epoch : epochs_) {
    so_far.cost = so_far.cost && epoch.cost ? std::optional{*so_far.cost + *epoch.cost} : std::nullopt;
  }
  return so_far;
}

void Running::predict(TrainingResult& result) const {
  if (options_.mode == TrainingMode::optimize) {
    return;
  }
  Parts all{};
  for (const Parts& parts : epoch_parts_) {
    all = all + parts;
  }
  const auto taken = [&](Part part) -> optimize::Taken {
    const Amount& amount = all[static_cast<std::size_t>(part)];
    return {.time = amount.time,
            .energy = amount.known ? std::optional{amount.energy} : std::nullopt,
            .steps = amount.steps};
  };
  optimize::ObservedRun run{.steps = taken(Part::steps),
                            .slices = taken(Part::slices),
                            .rest = taken(Part::rest),
                            .found = {},
                            .gpus = fleet_->gpus};
  if (fleet_->found) {
    run.found = PowerSetting{.limit = *fleet_->found, .clock = std::nullopt};
  }
  if (options_.mode == TrainingMode::passive && known_ && known_->complete && price_) {
    result.profile = *known_;
    result.optimum = optimize::choose_setting(options_.goal, fleet_->max_power, result.profile.measurements);
  }
  if (!price_) {
    result.no_prediction = "there is no GPU whose power limit can be read";
    return;
  }
  result.prediction = optimize::predict(run, result.profile, result.optimum, *price_, result.no_prediction);
}

// Why profiling did not come to an end.
std::string Running::too_short() const {
  const auto longest = std::ranges::max_element(epochs_, {}, &EpochReport::steps);
  if (longest == epochs_.end() || longest->steps == 0) {
    return "no steps were reported";
  }
  return longest->steps < 2 ? "epochs of a single step are too short to profile"
                            : "the training was over before profiling was";
}

TrainingResult Running::result() const {
  TrainingResult result;
  result.stopped_by = stopped_by_;
  result.epochs = epochs_;
  Amount all;
  for (const Parts& parts : epoch_parts_) {
    all += total(parts);
  }
  result.time = all.time;
  result.energy = all.known && fleet_->gpus > 0 && !epochs_.empty() ? std::optional{all.energy} : std::nullopt;
  result.cost = epochs_.empty() ? std::nullopt : cost_of(all);
  result.eta = options_.eta;
  result.max_power = fleet_->max_power;
  result.gpus = fleet_->gpus;
  result.metric = metric_;
  result.profiling_steps = tuner_->profiling_steps();
  result.profiling_time = tuner_->profiling_time();
  result.optimum = tuner_->optimum();
  result.applied = tuner_->applied();
  result.profile = tuner_->profile();
  result.unoptimized = tuner_->why_not();
  if (finished_ && tuner_->profiling()) {
    result.unoptimized = too_short();
  }
  predict(result);
  return result;
}

}  // namespace zeus::train
