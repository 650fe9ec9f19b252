// What is behind a Session: its state, and what each event does to it (session.hpp has the promises). One thread; seen
// by Session alone.
#pragma once

#include "base/clock.hpp"
#include "optimize/cost/energy_time_cost.hpp"
#include "records/power_profile.hpp"
#include "train/account.hpp"
#include "train/ending.hpp"
#include "train/fleet.hpp"
#include "train/gpu_group.hpp"
#include "train/herald.hpp"
#include "train/meter.hpp"
#include "train/outer_run.hpp"
#include "train/ranks.hpp"
#include "train/session.hpp"
#include "train/tuner.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::train {

class Running {
 public:
  Running(SessionParts parts, const TrainingOptions& options);

  bool next_epoch();
  void begin_epoch();
  void end_epoch();
  void begin_step();
  void end_step();
  void progress(std::uint64_t steps);
  void end_steps();
  void report(double metric);
  void set_target(const TrainingTarget& target);
  void set_batch_size(std::uint64_t batch_size);
  void hold(const PowerSetting& setting);
  // With the other ranks, or, from a destructor, without waiting for anybody.
  void finish(bool together);
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] const Tuner& tuner() const { return *tuner_; }
  [[nodiscard]] bool is_ours() const { return owner_ == ::getpid(); }

 private:
  enum class Stepping { unknown, marked, seen };

  void require_unfinished(const char* what) const;
  void tune();
  [[nodiscard]] std::optional<records::PowerProfile> known_profile();
  [[nodiscard]] bool led_by_a_run();
  void boundary(std::uint64_t over);
  void count_steps(std::uint64_t over);
  void tell_of_epoch();
  void step_as(Stepping stepping);
  void close_epoch();
  void book(Parts taken);
  void write_down(EpochReport& report, const Parts& parts) const;
  void complain_of_silence(const EpochReport& report);
  void retune_after_drift();
  [[nodiscard]] std::optional<Joules> next_cost() const;
  [[nodiscard]] std::optional<Joules> cost_of(const Amount& amount) const;
  [[nodiscard]] Progress progress_so_far() const;
  void agree(std::vector<double>& decision);
  void predict(TrainingResult& result) const;
  [[nodiscard]] std::string too_short() const;

  TrainingOptions options_;
  bool target_is_its_own_;  // and not the run's, whose metric others may tell
  pid_t owner_ = ::getpid();
  Clock& clock_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<OuterRun> outer_;  // of the rank that leads
  Herald herald_;
  Ranks ranks_;
  GpuGroup group_;
  std::optional<Fleet> fleet_;
  std::optional<Account> account_;
  std::unique_ptr<Tuner> tuner_;
  std::optional<optimize::EnergyTimeCost> price_;

  std::optional<records::PowerProfile> known_;  // of this batch size, when it was begun

  std::vector<EpochReport> epochs_;
  std::vector<Parts> epoch_parts_;
  Parts tail_{};
  bool in_epoch_ = false;
  bool epoch_untold_ = false;
  bool in_steps_ = false;
  bool in_step_ = false;
  Stepping stepping_ = Stepping::unknown;
  bool tuned_at_begin_ = false;
  std::optional<Joules> settled_epoch_;  // the cost of the latest epoch that was spent at one setting
  std::uint64_t silent_epochs_ = 0;
  std::optional<double> metric_;
  std::optional<double> best_metric_;
  std::optional<double> epoch_metric_;
  std::optional<StopReason> stopped_by_;
  bool finished_ = false;
};

}  // namespace zeus::train
