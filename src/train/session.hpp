// One training as it goes on: measure -> decide -> control. What is behind every front: zeus::Training, the Python
// package, `zeus run`. Told of steps, epochs and metrics; profiles power settings just in time (optimize::Profiler),
// applies the optimum under leases (control::Lease), accounts time, energy and cost, and says when to stop. Rules of
// threads, forks, failures and order as in zeus/train.hpp, member by member. Owns its parts; the Clock outlives it.
//
// A front drives it in one of three ways:
//   a loop                   next_epoch(), begin_step()/end_step(), end_steps(), report(), finish()
//   callbacks of a trainer   begin_epoch(), begin_step()/end_step(), end_steps(), end_epoch(), report(), finish()
//   a process seen from outside   next_epoch() or begin_epoch()/end_epoch(), progress(n), report(), finish()
// Steps before any begin_epoch() begin the first epoch by themselves, so a job that has no epochs needs none.
#pragma once

#include "base/clock.hpp"
#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "train/meter.hpp"
#include "train/outer_run.hpp"

#include <zeus/train.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::train {

// A GPU of this process and the index under which the meter reports it.
struct SessionGpu {
  int index = 0;
  std::shared_ptr<device::Gpu> gpu;
};

struct SessionParts {
  std::vector<SessionGpu> gpus;  // none is fine: nothing is set or measured then
  std::unique_ptr<Meter> meter;  // over those GPUs
  // Takes the lease of a GPU by its UUID (control::LeaseBook::acquire); called when something is to be set for the
  // first time, and again after a lease was lost. What it throws is why the training goes on unoptimized.
  std::function<control::Lease(std::string_view uuid, Seconds term)> acquire;
  Clock& clock;
  // Sets the limits in this session's place, and is told of its progress; null mostly.
  std::unique_ptr<OuterRun> outer = nullptr;
};

class Running;

class Session {
 public:
  // An invalid_argument Error for options that make no sense. `options.gpus` and `options.monitor` are not looked at:
  // the parts say what they would. Reads the profile file; with a collective, waits for the other ranks.
  Session(SessionParts parts, const TrainingOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // as finish()

  [[nodiscard]] bool next_epoch();
  void begin_epoch();
  void end_epoch();
  void begin_step();
  void end_step();
  void progress(std::uint64_t steps);
  void end_steps();
  void report(double metric);
  void set_target(const TrainingTarget& target);
  void set_batch_size(std::uint64_t batch_size);
  // Puts this setting in force now and keeps it until the end, in place of profiling, which it ends: a lease is renewed
  // with every step, and one that was lost is taken again with the next epoch. Told of as an optimum that is applied, a
  // SettingRefused, or an Unoptimized. With a collective, all ranks call it at the same place. Another hold() takes the
  // place of this one; a new batch size changes nothing. An invalid_argument Error in the observing modes.
  void hold(const PowerSetting& setting);
  void finish();

  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] bool profiling() const;
  [[nodiscard]] PowerProfile profile() const;
  [[nodiscard]] std::optional<PowerSetting> optimum() const;

 private:
  std::unique_ptr<Running> running_;
};

}  // namespace zeus::train
