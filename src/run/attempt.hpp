// One run of the command: what it does, what it takes, and what comes of it. Puts together what watches the command
// (WatchedCommand), what counts (TrainingProgress, EnergyAccount), what judges (StopRule) and what sets power limits
// (PowerTuning). One thread; what it is given outlives it.
#pragma once

#include "records/job_event.hpp"
#include "run/energy_account.hpp"
#include "run/power_tuning.hpp"
#include "run/stop_rule.hpp"
#include "run/training_progress.hpp"
#include "run/watched_command.hpp"

#include <zeus/units.hpp>

#include <functional>
#include <optional>

namespace zeus::run {

class Attempt {
 public:
  // What the energy and the time of a run cost.
  using Cost = std::function<Joules(Joules, Seconds)>;

  Attempt(const WatchedCommand::Plan& plan, TrainingGpus& gpus, PowerTuning& tuning, Cost cost, Clock& clock);

  // From now on it is judged so; before, it goes on whatever it does, though a target reached is noted.
  void judge_by(const StopRule& rule);
  // Lets it go on until something has happened, or the time is up.
  void go_on(Seconds patience);

  [[nodiscard]] bool has_ended() const { return command_.exit_code().has_value(); }
  // Whether there is nothing left to find out: it has ended, or reached its target.
  [[nodiscard]] bool is_decided() const { return has_ended() || verdict_ != Verdict::go_on; }
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // What became of it; of one that is decided.
  [[nodiscard]] records::TryOutcome outcome();
  // What it took until it was decided.
  [[nodiscard]] const EnergyAccount::Taken& taken() const { return *taken_; }
  [[nodiscard]] const EnergyAccount::Taken& taken_so_far() { return account_.look(); }
  [[nodiscard]] Joules cost_so_far();

  // Whether it stood still for a time that somebody chose: what it took then says nothing about it.
  [[nodiscard]] bool was_stopped() const { return times_stopped_ > 0; }

  [[nodiscard]] WatchedCommand& command() { return command_; }
  [[nodiscard]] const TrainingProgress& progress() const { return progress_; }

 private:
  void take(const Progress& progress);
  void end_epoch();
  void decide(Verdict verdict);

  Clock& clock_;
  PowerTuning& tuning_;
  Cost cost_;
  StopRule rule_;
  bool judged_ = false;
  EnergyAccount account_;
  WatchedCommand command_;
  TrainingProgress progress_;
  Verdict verdict_ = Verdict::go_on;
  std::optional<EnergyAccount::Taken> taken_;
  Joules cost_at_epoch_;
  std::optional<Joules> next_epoch_;
  Instant looked_;
  Instant stayed_;
  int times_stopped_ = 0;
};

}  // namespace zeus::run
