// A training while it runs: measure -> decide -> control. It stands behind every front: zeus::Training, the Python
// package, `zeus run`, the demo. The front reports steps, epochs and metrics. The session profiles power settings just
// in time (optimize::Profiler), applies the optimum under leases (control::Lease), accounts for time, energy and cost,
// and says when to stop. Threads, forks, failures and order: as in zeus/train.hpp, member by member. Owns its parts;
// the Clock outlives it.
//
// A front drives it in one of three ways:
//   a loop                   next_epoch(), begin_step(), end_steps(), report(), finish()
//   callbacks of a trainer   begin_epoch(), begin_step(), end_steps(), end_epoch(), report(), finish()
//   a process seen from outside   next_epoch() or begin_epoch()/end_epoch(), progress(n), report(), finish()
// Steps before any begin_epoch() begin the first epoch by themselves, so a job without epochs needs none.
#pragma once

#include "base/clock.hpp"
#include "records/power_profile.hpp"
#include "train/account.hpp"
#include "train/epoch_ledger.hpp"
#include "train/event_reporter.hpp"
#include "train/fleet.hpp"
#include "train/gpu_group.hpp"
#include "train/meter.hpp"
#include "train/outer_run.hpp"
#include "train/ranks.hpp"
#include "train/session_parts.hpp"
#include "train/tuner.hpp"

#include <zeus/train.hpp>

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::train {

// A result's `unoptimized` where steps were seen, but too few.
inline constexpr std::string_view ended_while_profiling = "the training ended before profiling did";
// Begins the reason where a limit had been chosen before.
inline constexpr std::string_view ended_while_profiled_again =
    "the training ended while its power limits were profiled again";

class Session {
 public:
  // Throws an invalid_argument Error for impossible options. `options.gpus` and `options.monitor` are ignored: the
  // parts stand for them. Reads the profile file; with a collective, waits for the other ranks.
  Session(SessionParts parts, const TrainingOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // as finish()

  [[nodiscard]] bool next_epoch();
  void begin_epoch();
  void end_epoch();
  void begin_step();
  void progress(std::uint64_t steps);
  void end_steps();
  void report(double metric);
  void set_target(const TrainingTarget& target);
  void set_batch_size(std::uint64_t batch_size);
  // It ends profiling; a new batch size changes nothing.
  void hold(const PowerSetting& setting);
  void confirm();
  void finish();

  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] bool profiling() const { return tuner_.profiling(); }
  [[nodiscard]] PowerProfile profile() const { return tuner_.profile(); }
  [[nodiscard]] std::optional<PowerSetting> optimum() const { return tuner_.optimum(); }

 private:
  enum class Phase {
    between_epochs,
    steps,     // between steps; those that are over have been counted
    step,      // a marked step is under way
    rest,      // the rest of an epoch whose steps are over
    finished,  // for good
  };
  enum class Stepping { unknown, marked, seen };
  // What ranks find out together when the training begins.
  struct Meeting {
    Fleet fleet;
    bool led = false;     // whether a run around one of the ranks leads them
    std::string failure;  // if the others did not answer
  };

  [[nodiscard]] bool is_ours() const;
  [[nodiscard]] bool takes(const char* what) const;
  [[nodiscard]] Meeting meet();
  [[nodiscard]] Meter* meter_of_this_rank() const;
  [[nodiscard]] std::optional<records::PowerProfile> read_known_profile();
  [[nodiscard]] bool in_epoch() const;
  void step_as(Stepping stepping);
  void boundary(std::uint64_t over);
  void count_steps(std::uint64_t over);
  void tell_of_epoch();
  void close_epoch();
  void book(Parts taken);
  void complain_of_silence();
  void retune_after_drift();
  void end(bool together);
  [[nodiscard]] TrainingProgress progress_so_far() const;
  void predict(TrainingResult& result) const;
  [[nodiscard]] std::string too_short() const;

  TrainingOptions options_;
  bool target_is_its_own_;  // not the run's: then other processes may report the metric
  pid_t owner_;
  Clock& clock_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<OuterRun> outer_;  // in the leading rank
  EventReporter reporter_;
  Ranks ranks_;
  GpuGroup group_;
  Meeting meeting_;
  Account account_;
  EpochLedger ledger_;
  Tuner tuner_;
  std::optional<records::PowerProfile> known_;  // for this batch size, as it was begun
  // What was in force before the steps drifted: it stays the result of a training that ends while it is profiled again.
  struct Chosen {
    records::PowerProfile profile;
    PowerSetting optimum;
  };
  std::optional<Chosen> before_drift_;
  Phase phase_ = Phase::between_epochs;
  Stepping stepping_ = Stepping::unknown;  // in this epoch
  bool epoch_untold_ = false;              // not yet reported to the run around this process
  Parts tail_{};                           // of the latest epoch, of this rank alone
  std::optional<StopReason> stopped_by_;
};

}  // namespace zeus::train
