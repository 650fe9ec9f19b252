// The epochs of a training: what each took and achieved, what they come to, and what another would cost. Told of
// amounts that are those of all ranks already. One owner, one thread.
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
  // Without a price there is no cost; `measured` says whether there is any GPU whose energy could be known.
  EpochLedger(std::optional<optimize::EnergyTimeCost> price, bool measured) : price_{price}, measured_{measured} {}

  // An epoch begins; `settled` where the setting is in force that is to stay.
  void begin(bool settled);
  // It is over; what it took follows with book(). `profiled` where slices were measured in it.
  void end(bool profiled);
  // This was taken by the latest epoch that is over, which there must be.
  void book(const Parts& taken);
  // The latest epoch was at one setting to its end: what it cost, the next one will.
  void keep_cost_of_settled();
  // Another setting, or other steps, from now on: what epochs cost is not known any more.
  void unsettle();

  // What the model achieves now, in the epoch under way or at the end of the latest one.
  void report(double metric, bool under_way, const std::optional<TrainingTarget>& target);
  // Metrics are compared anew.
  void judge_anew() { best_metric_ = metric_; }

  [[nodiscard]] const std::vector<EpochReport>& epochs() const { return epochs_; }
  [[nodiscard]] const std::optional<optimize::EnergyTimeCost>& price() const { return price_; }
  [[nodiscard]] const std::optional<double>& metric() const { return metric_; }
  [[nodiscard]] Parts total_parts() const;
  // For how many epochs no steps were told of until now.
  [[nodiscard]] std::uint64_t silent() const;
  // Without what another epoch would cost.
  [[nodiscard]] TrainingProgress progress() const;
  // That, as the latest one cost that was at the setting in force to its end.
  [[nodiscard]] const std::optional<Joules>& settled_cost() const { return settled_cost_; }
  // That, from the latest epoch and what the profile says of a step under what is in force.
  [[nodiscard]] std::optional<Joules> cost_of_another(const records::PowerProfile& profile,
                                                      const std::optional<PowerSetting>& in_force) const;
  // Time, energy and cost of all, into a result.
  void sum_up(TrainingResult& result) const;

 private:
  [[nodiscard]] std::optional<Joules> cost_of(const Amount& amount) const;

  std::optional<optimize::EnergyTimeCost> price_;
  bool measured_;
  std::vector<EpochReport> epochs_;
  std::vector<Parts> parts_;  // of each
  bool settled_ = false;      // the epoch under way, from its beginning
  std::optional<Joules> settled_cost_;
  std::optional<double> metric_;
  std::optional<double> best_metric_;
  std::optional<double> epoch_metric_;
};

}  // namespace zeus::train
