// The epochs of a training: what each took and achieved, their sums, and what another epoch would cost. The amounts it
// is given already cover all ranks. One owner, one thread.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "records/power_profile.hpp"
#include "train/account.hpp"
#include "train/stopping.hpp"

#include <zeus/training_options.hpp>
#include <zeus/training_report.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::train {

class EpochLedger {
 public:
  // Without a price there is no cost. `measured` says whether the energy of any GPU can be known.
  EpochLedger(std::optional<optimize::EnergyTimeCost> price, bool measured) : price_{price}, measured_{measured} {}

  // An epoch begins; `settled` if the setting that will stay is in force.
  void begin(bool settled);
  // The epoch is over; book() adds what it took. `profiled` if slices were measured in it.
  void end(bool profiled);
  // Adds to the latest epoch that is over; there must be one.
  void book(const Parts& taken);
  // The latest epoch ran at one setting from beginning to end: the next one will cost as much.
  void keep_cost_of_settled();
  // The setting or the steps change: the cost of an epoch is unknown from now on.
  void unsettle();

  // The model's metric now, in the epoch under way or at the end of the latest one.
  void report(double metric, bool under_way, const std::optional<TrainingTarget>& target);
  // Forgets the best metric, so that metrics are compared from here on.
  void judge_anew() { best_metric_ = metric_; }

  [[nodiscard]] const std::vector<EpochReport>& epochs() const { return epochs_; }
  [[nodiscard]] const std::optional<optimize::EnergyTimeCost>& price() const { return price_; }
  [[nodiscard]] const std::optional<double>& metric() const { return metric_; }
  [[nodiscard]] Parts total_parts() const;
  // How many epochs in a row, up to now, had no steps reported.
  [[nodiscard]] std::uint64_t silent() const;
  // Without the cost of another epoch.
  [[nodiscard]] TrainingProgress progress() const;
  // The cost of another epoch, as the latest one that ran at the setting in force from beginning to end.
  [[nodiscard]] const std::optional<Joules>& settled_cost() const { return settled_cost_; }
  // The cost of another epoch, from the latest epoch and from the profile of a step at the setting in force.
  [[nodiscard]] std::optional<Joules> cost_of_another(const records::PowerProfile& profile,
                                                      const std::optional<PowerSetting>& in_force) const;
  // Adds the time, energy and cost of all epochs to a result.
  void sum_up(TrainingResult& result) const;

 private:
  [[nodiscard]] std::optional<Joules> cost_of(const Amount& amount) const;

  std::optional<optimize::EnergyTimeCost> price_;
  bool measured_;
  std::vector<EpochReport> epochs_;
  std::vector<Parts> parts_;  // of each epoch
  bool settled_ = false;      // the epoch under way, since its beginning
  std::optional<Joules> settled_cost_;
  std::optional<double> metric_;
  std::optional<double> best_metric_;
  std::optional<double> epoch_metric_;
};

}  // namespace zeus::train
