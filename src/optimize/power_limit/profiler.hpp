// The just-in-time profiler: tells a training loop, step by step, which power setting to try, when to measure, and what
// to keep. A pure state machine: no clock, no device, no thread; it answers each event with actions.
//
//   on_step_begin   before each training step           on_epoch_end   after the last step of each epoch
//   on_slice        the answer to `close_window`, at once        on_slice_lost  the window could not be measured
//   on_refused      the device would not take the setting of the last `set`
//
// Slices begin and end at step boundaries and never span epochs: one that an epoch's end interrupts is repeated whole
// in the next epoch. The end of an epoch is such a boundary only where the caller says so. How long an epoch is, is
// learned from the first one (or told): from then on no slice is begun that the rest of the epoch cannot hold, and
// slices longer than an epoch are cut to what fits. Whatever happens, only settings of the range are asked for, and
// outside of slices the baseline is in force until the optimum is applied.
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
  // What is in force before profiling, between epochs while profiling, and afterwards in observer mode.
  records::PowerSetting baseline;
  std::uint32_t wait_steps = 1;                  // left alone at the very beginning
  std::optional<std::uint64_t> steps_per_epoch;  // when it is known beforehand
  bool apply = true;                             // false: observer mode; the optimum is found and not applied
};

class Profiler {
 public:
  Profiler(std::unique_ptr<PowerLimitPlan> plan, const ProfilerOptions& options);

  // Before the first step: with a plan that is done from the start (a saved profile), applies the optimum.
  [[nodiscard]] ProfilerActions on_start();
  [[nodiscard]] ProfilerActions on_step_begin();
  [[nodiscard]] ProfilerActions on_slice(const SliceReading& reading);
  [[nodiscard]] ProfilerActions on_slice_lost();
  // Somebody else has set something since: what is wanted next is set, whatever was set last.
  void on_overruled() { in_force_.reset(); }
  [[nodiscard]] ProfilerActions on_refused();
  // Where `last_step_is_over`, what follows the last on_step_begin is one whole step, and it may end a slice; a caller
  // that only sees steps end cannot say so.
  [[nodiscard]] ProfilerActions on_epoch_end(bool last_step_is_over = false);

  [[nodiscard]] bool done() const { return state_ == State::done; }
  // Whether the next on_step_begin() closes the window of a slice.
  [[nodiscard]] bool ends_slice_next() const { return state_ == State::measuring && left_ == 1; }
  // Among what has been measured so far; nothing before the first slice.
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const { return plan_->optimum(); }
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const { return plan_->measurements(); }
  // The steps that were over when it was done, or so far: what profiling took.
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
  std::optional<records::PowerSetting> in_force_;  // as far as is known
  // Steps begun, and those of them that were over at the last step's beginning; in all and in this epoch.
  std::uint64_t begun_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epoch_begun_ = 0;
  std::uint64_t epoch_steps_ = 0;
  std::optional<std::uint64_t> epoch_length_;
  bool last_steps_count_ = false;  // the last step of an epoch can be measured
  bool between_epochs_ = false;
  std::uint32_t lost_ = 0;
};

}  // namespace zeus::optimize
