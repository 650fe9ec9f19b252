#include "train/epoch_ledger.hpp"

#include <algorithm>
#include <ranges>

namespace zeus::train {

void EpochLedger::begin(bool settled) {
  settled_ = settled;
  epoch_metric_.reset();
}

void EpochLedger::end(bool profiled) {
  epochs_.push_back({.number = epochs_.size() + 1, .metric = epoch_metric_, .profiled = profiled});
  parts_.emplace_back();
}

void EpochLedger::book(const Parts& taken) {
  Parts& parts = parts_.back();
  parts = parts + taken;
  const Amount all = total(parts);
  EpochReport& report = epochs_.back();
  report.time = all.time;
  report.steps_time = all.time - parts[static_cast<std::size_t>(Part::rest)].time;
  report.steps = all.steps;
  report.energy = all.known && measured_ ? std::optional{all.energy} : std::nullopt;
  report.cost = cost_of(all);
}

void EpochLedger::keep_cost_of_settled() {
  if (settled_ && !epochs_.back().profiled) {
    settled_cost_ = epochs_.back().cost;
  }
}

void EpochLedger::unsettle() {
  settled_ = false;
  settled_cost_.reset();
}

void EpochLedger::report(double metric, bool under_way, const std::optional<TrainingTarget>& target) {
  metric_ = metric;
  best_metric_ = target && best_metric_ ? better(*target, *best_metric_, metric) : metric;
  epoch_metric_ = metric;
  if (!under_way && !epochs_.empty()) {
    epochs_.back().metric = metric;
  }
}

Parts EpochLedger::total_parts() const {
  Parts all{};
  for (const Parts& parts : parts_) {
    all = all + parts;
  }
  return all;
}

std::uint64_t EpochLedger::silent() const {
  const auto latest_first = epochs_ | std::views::reverse;
  const auto told = std::ranges::find_if(latest_first, [](const EpochReport& epoch) { return epoch.steps > 0; });
  return static_cast<std::uint64_t>(told - latest_first.begin());
}

TrainingProgress EpochLedger::progress() const {
  TrainingProgress so_far{.epochs = epochs_.size(), .metric = best_metric_, .cost = Joules{0}, .next_cost = {}};
  for (const EpochReport& epoch : epochs_) {
    so_far.cost = so_far.cost && epoch.cost ? std::optional{*so_far.cost + *epoch.cost} : std::nullopt;
  }
  return so_far;
}

std::optional<Joules> EpochLedger::cost_of_another(const records::PowerProfile& profile,
                                                   const std::optional<PowerSetting>& in_force) const {
  const auto known =
      std::ranges::find_if(profile.measurements, [&](const PowerMeasurement& m) { return in_force == m.setting; });
  if (!price_ || epochs_.empty() || known == profile.measurements.end()) {
    return std::nullopt;
  }
  const auto steps = static_cast<double>(epochs_.back().steps);
  const Amount& rest = parts_.back()[static_cast<std::size_t>(Part::rest)];
  return price_->of(known->step_energy.value * steps + rest.energy.value, known->step_time * steps + rest.time);
}

std::optional<Joules> EpochLedger::cost_of(const Amount& amount) const {
  return amount.known && price_ ? std::optional{price_->of(amount.energy.value, amount.time)} : std::nullopt;
}

void EpochLedger::sum_up(TrainingResult& result) const {
  Amount all;
  for (const Parts& parts : parts_) {
    all += total(parts);
  }
  result.epochs = epochs_;
  result.time = all.time;
  result.energy = all.known && measured_ && !epochs_.empty() ? std::optional{all.energy} : std::nullopt;
  result.cost = epochs_.empty() ? std::nullopt : cost_of(all);
  result.metric = metric_;
}

}  // namespace zeus::train
