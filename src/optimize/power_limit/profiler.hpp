// The just-in-time profiler. Step by step it tells a training loop which power setting to try, when to measure, and
// what to keep. A pure state machine: no clock, no device, no thread. It answers each event with actions.
//
//   on_step_begin   before each training step           on_epoch_end   after the last step of each epoch
//   on_slice        the answer to `close_window`, at once        on_slice_lost  the window could not be measured
//   on_refused      the device refused the setting of the last `set`
//
// Slices begin and end at step boundaries and never cross epochs: a slice interrupted by the end of an epoch is
// repeated whole in the next one. The end of an epoch is such a boundary only if the caller says so. The length of an
// epoch is learned from the one before, or given. From then on no slice begins if the rest of the epoch cannot hold it,
// and slices longer than an epoch are shortened to fit. If an epoch turns out longer, its length is unknown, and slices
// begin again. In every case the profiler requests only settings of the range, and outside of slices the baseline is in
// force until the optimum is applied.
//
// One owner, one thread. The plan belongs to the profiler.
#pragma once

#include "optimize/power_limit/power_limit_plan.hpp"
#include "optimize/power_limit/profiler_action.hpp"
#include "optimize/power_limit/slice.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::optimize {

struct ProfilerOptions {
  // The setting in force before profiling, between epochs while profiling, and afterwards in observer mode.
  records::PowerSetting baseline;
  std::uint32_t wait_steps = 1;                  // steps left alone at the very beginning
  std::optional<std::uint64_t> steps_per_epoch;  // if known beforehand
  bool apply = true;                             // false is observer mode: the optimum is found but not applied
};

class Profiler {
 public:
  Profiler(std::unique_ptr<PowerLimitPlan> plan, const ProfilerOptions& options);

  // Call it before the first step. If the plan is done from the start (a saved profile), it applies the optimum.
  [[nodiscard]] ProfilerActions on_start();
  [[nodiscard]] ProfilerActions on_step_begin();
  [[nodiscard]] ProfilerActions on_slice(const SliceReading& reading);
  [[nodiscard]] ProfilerActions on_slice_lost();
  // Another process has changed the setting since: the next `set` is issued even if it repeats the last one.
  void on_overruled() { in_force_.reset(); }
  [[nodiscard]] ProfilerActions on_refused();
  // `last_step_is_over` says that what follows the last on_step_begin is one whole step, which may end a slice. A
  // caller that only sees steps end cannot know that.
  [[nodiscard]] ProfilerActions on_epoch_end(bool last_step_is_over = false);

  [[nodiscard]] bool done() const { return state_ == State::done; }
  // Whether the next on_step_begin() closes the window of a slice.
  [[nodiscard]] bool ends_slice_next() const { return state_ == State::measuring && left_ == 1; }
  // The best setting measured so far; nothing before the first slice.
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const { return plan_->optimum(); }
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const { return plan_->measurements(); }
  // The number of steps that were over when profiling ended, or so far: what profiling took.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  enum class State { waiting, settling, measuring, reporting, done };

  ProfilerActions begin_slice();
  ProfilerActions wait_for_next_epoch();
  ProfilerActions open_window();
  ProfilerActions finish();
  void set(ProfilerActions& actions, const records::PowerSetting& setting);
  std::optional<SliceRequest> fit(SliceRequest request) const;
  void require_reporting(const char* event) const;
  void refuse_in(State state, const char* event) const;

  std::unique_ptr<PowerLimitPlan> plan_;
  ProfilerOptions options_;
  State state_ = State::waiting;
  std::uint64_t left_;  // steps until the state is over
  SliceRequest slice_;
  std::optional<records::PowerSetting> in_force_;  // as far as known
  // Steps begun, and how many of them were over at the beginning of the last step; in total and in this epoch.
  std::uint64_t begun_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epoch_begun_ = 0;
  std::uint64_t epoch_steps_ = 0;
  std::optional<std::uint64_t> epoch_length_;
  bool last_steps_count_ = false;  // whether the last step of an epoch can be measured
  bool between_epochs_ = false;
  std::uint32_t lost_ = 0;
};

}  // namespace zeus::optimize
