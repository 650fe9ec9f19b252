#include "train/tuner.hpp"

#include "control/lessor.hpp"
#include "optimize/power_limit/limit_curve.hpp"
#include "train/profile_file.hpp"
#include "train/setting_outcome.hpp"
#include "train/tuning_plan.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

namespace zeus::train {

using optimize::ProfilerAction;
using optimize::ProfilerActionKind;
using optimize::ProfilerActions;
using records::PowerSetting;

namespace {

// Boundaries between steps that follow sooner than this are not reported to the profiler.
constexpr Seconds shortest_boundary{0.004};

// Between questions to a lessor that is away.
constexpr Seconds shortest_lessor_pause{1};
constexpr Seconds longest_lessor_pause{60};
// Between two attempts within an epoch to take a lost lease again: each may wait for a driver or for a lock.
constexpr Seconds retake_pause{60};

// Whether any rank must measure for longer.
struct SliceLength {
  bool too_short = false;

  void joined(Joining& join) { join.any(too_short); }
};

// A lease that ran out; it can be taken again.
class LeaseLost : public Error {
 public:
  using Error::Error;
};

// The first measurement is of the highest limit.
std::optional<StepSaving> saving_of(const records::PowerProfile& profile, const PowerSetting& chosen) {
  const PowerSetting& highest = profile.measurements.front().setting;
  if (chosen == highest) {
    return StepSaving{};
  }
  const std::optional<optimize::StepChange> change = optimize::step_change(profile, highest, chosen);
  return change ? std::optional{StepSaving{.share = -change->energy.value, .half_width = change->energy.half_width}}
                : std::nullopt;
}

std::shared_ptr<SliceMeter> slices_to_measure(const TunerParts& parts) {
  if (parts.meter == nullptr) {
    return nullptr;
  }
  return parts.options.profiling.slice_meter ? parts.options.profiling.slice_meter : slices_of(*parts.meter);
}

}  // namespace

Tuner::Tuner(const TunerParts& parts)
    : parts_{parts}, window_{slices_to_measure(parts), parts.group}, watch_{parts.options.profiling.drift_tolerance} {
}

bool Tuner::sweeps() const {
  return std::holds_alternative<SweepProfiling>(parts_.options.profiling.plan);
}

// Nothing that goes wrong in here may end a training.
template <typename Body>
void Tuner::guarded(Body&& body) {
  if (is_left()) {
    return;
  }
  try {
    std::forward<Body>(body)();
  } catch (const LeaseLost& error) {
    stop(error.what(), State::interrupted);
  } catch (const control::LessorAway& error) {
    wait_for_lessor(error.message());
  } catch (const std::exception& error) {
    stop(error.what());
  }
}

void Tuner::begin(std::optional<std::uint64_t> batch_size, const std::optional<records::PowerProfile>& known,
                  const std::string& again) {
  batch_size_ = batch_size;
  again_ = again;
  if (parts_.options.mode == TrainingMode::passive) {
    return;
  }
  if (!parts_.fleet.unsettable.empty()) {
    stop(parts_.fleet.unsettable);
  }
  guarded([&] {
    in_slices(false);
    window_.cancel();
    measured_anything_ = false;
    state_ = State::profiling;
    watch_.expect(std::nullopt);
    const TrainingOptions& options = parts_.options;
    std::unique_ptr<optimize::PowerLimitPlan> plan = plan_for(parts_, known);
    optimize::ProfilerOptions profiler_options;
    profiler_options.baseline = as_found;
    profiler_options.wait_steps = options.profiling.wait_steps;
    profiler_options.steps_per_epoch = options.steps_per_epoch;
    profiler_options.apply = options.mode == TrainingMode::optimize;
    profiler_ = std::make_unique<optimize::Profiler>(std::move(plan), profiler_options);
    const ProfilerActions actions = profiler_->on_start();
    if (!profiler_->done()) {
      parts_.reporter.tell(ProfilingBegun{.batch_size = batch_size, .again = again});
    }
    carry_out(actions);
  });
}

void Tuner::hold(const PowerSetting& setting) {
  if (state_ == State::interrupted && parts_.ranks.alone()) {
    state_ = State::as_found;
    why_not_.clear();
  }
  held_ = setting;
  if (!parts_.fleet.unsettable.empty()) {
    stop(parts_.fleet.unsettable);
  }
  guarded([&] {
    window_.cancel();
    state_ = State::as_found;
    watch_.expect(std::nullopt);
    carry_out({{.kind = ProfilerActionKind::apply_optimum, .setting = setting}});
  });
}

void Tuner::begin_epoch() {
  if (may_resume()) {
    resume();
  }
}

// Of several ranks none can know that the others go on as well.
bool Tuner::may_resume() {
  return state_ == State::interrupted && parts_.ranks.alone() && (!lessor_away_ || lessor_is_back());
}

// The warning is said once; what follows is the same absence.
void Tuner::wait_for_lessor(const std::string& why) {
  stop(why, parts_.ranks.alone() ? State::interrupted : State::left);
  lessor_away_ = true;
  lessor_pause_ = shortest_lessor_pause;
  ask_lessor_at_ = parts_.clock.now() + lessor_pause_;
}

bool Tuner::lessor_is_back() {
  const Instant now = parts_.clock.now();
  if (now < ask_lessor_at_) {
    return false;
  }
  try {
    parts_.group.lease();
    return true;
  } catch (const std::exception&) {
    parts_.group.release();
    lessor_pause_ = std::min(2.0 * lessor_pause_, longest_lessor_pause);
    ask_lessor_at_ = parts_.clock.now() + lessor_pause_;
    return false;
  }
}

void Tuner::resume() {
  lessor_away_ = false;
  retake_at_ = parts_.clock.now() + retake_pause;
  state_ = State::as_found;
  why_not_.clear();
  if (const std::optional<PowerSetting> setting = held_) {
    hold(*setting);
  } else if (profiler_->done()) {
    guarded([&] {
      carry_out({{.kind = ProfilerActionKind::apply_optimum, .setting = *profiler_->optimum()}});
      watch_from_now();
    });
  } else {
    records::PowerProfile known = profile();
    begin(batch_size_, known.measurements.empty() ? std::nullopt : std::optional{known},
          "the leases were lost meanwhile");
  }
}

void Tuner::step(std::uint64_t over) {
  const Instant now = parts_.clock.now();
  if (last_boundary_ && over > 0 && !profiling()) {
    watch_.add(over, now - *last_boundary_);
  }
  last_boundary_ = now;
  if ((lessor_away_ || now >= retake_at_) && may_resume()) {
    resume();
    return;
  }
  guarded([&] {
    renew();
    if (held_ || !profiler_) {
      return;
    }
    over += std::exchange(pending_, 0);
    if (over > 0 && profiling() && is_too_soon(now)) {
      pending_ = over;
      return;
    }
    tuned_at_ = now;
    if (over > 0) {
      window_.count(over);
    }
    profiling_steps_ += profiler_->done() ? 0 : over;
    carry_out(profiler_->on_step_begin());
  });
}

// Whether to hide this boundary from the profiler, so that steps too short to be measured are combined. A sweep has
// promised its number of steps per slice, so it lengthens a slice only if it would end without a result; all ranks
// agree on that. Without a sweep, boundaries are hidden by this rank's own clock, so only if there are no other ranks.
bool Tuner::is_too_soon(Instant now) {
  if (!sweeps()) {
    return parts_.ranks.alone() && now - tuned_at_ < shortest_boundary;
  }
  if (!profiler_->ends_slice_next()) {
    return false;
  }
  SliceLength slice{.too_short = window_.is_too_short(now)};
  parts_.ranks.agree(slice);
  if (!slice.too_short) {
    return false;
  }
  if (!std::exchange(lengthening_said_, true)) {
    parts_.reporter.warn(
        fmt::format("each power limit is profiled for more steps than it was given, as less than {:.3g} s "
                    "cannot be measured",
                    window_.shortest().value()));
  }
  return true;
}

void Tuner::renew() {
  try {
    parts_.group.renew();
  } catch (const Error& error) {
    if (!parts_.ranks.alone()) {
      // The other ranks go on until the next exchange with them.
      trouble_ = error.what();
      parts_.group.release();
    } else if (error.kind() == ErrorKind::timeout) {
      throw LeaseLost{error.kind(), error.what(), {}};
    } else {
      throw;
    }
  }
}

void Tuner::look_after_held() {
  if (!held_ || !applied() || !parts_.ranks.alone()) {
    return;
  }
  try {
    if (const std::string why = parts_.group.overruled_still(); !why.empty()) {
      stop(why);
    }
  } catch (const control::LessorAway&) {
    // renew() sees for how long.
  }
}

void Tuner::confirm() {
  if (!applied() || !parts_.ranks.alone()) {
    return;
  }
  guarded([&] {
    if (const std::string why = parts_.group.overruled_still(); !why.empty()) {
      stop(why);
    }
  });
}

void Tuner::end_steps(bool over) {
  look_after_held();
  const std::uint64_t last = std::exchange(pending_, 0) + (over ? 1 : 0);
  profiling_steps_ += profiling() ? last : 0;
  last_boundary_.reset();
  if (held_ || !profiler_) {
    return;
  }
  guarded([&] {
    // Steps that were reported together have no last step that could end a slice. A sweep's slice ends here even if it
    // is still too short, and is then reported as such.
    const bool whole = over && (last == 1 || sweeps());
    if (whole) {
      window_.count(last);
    }
    carry_out(profiler_->on_epoch_end(whole));
  });
}

void Tuner::carry_out(ProfilerActions actions) {
  const bool profiled = profiling();
  std::deque<ProfilerAction> queue{actions.begin(), actions.end()};
  while (!queue.empty() && !is_left()) {
    const ProfilerAction action = queue.front();
    queue.pop_front();
    if (const std::optional<ProfilerActions> instead = carry_out(action)) {
      queue.assign(instead->begin(), instead->end());
    }
  }
  if (profiled && !is_left() && profiler_->done()) {
    note_end_of_profiling();
  }
}

// Returns what to do instead of the next actions, if the plan changes.
std::optional<ProfilerActions> Tuner::carry_out(const ProfilerAction& action) {
  switch (action.kind) {
    case ProfilerActionKind::set:
      return set(action.setting, false);
    case ProfilerActionKind::apply_optimum:
      return set(action.setting, true);
    case ProfilerActionKind::open_window:
      window_.open(slice_setting_, parts_.clock.now());
      break;
    case ProfilerActionKind::close_window:
      return close_window();
    case ProfilerActionKind::cancel_window:
      window_.cancel();
      break;
  }
  return std::nullopt;
}

std::optional<ProfilerActions> Tuner::set(const PowerSetting& setting, bool optimum) {
  using Status = SettingOutcome::Status;
  // The time that setting takes belongs to the slices that it begins and ends.
  const bool tries = !optimum && setting != as_found;
  if (tries) {
    in_slices(true);
  }
  SettingOutcome outcome = trouble_.empty()
                               ? put_into_force(parts_.group, setting)
                               : SettingOutcome{.status = Status::hopeless, .why = trouble_, .enforced = {}};
  parts_.account.power_was_set();
  parts_.ranks.agree(outcome);
  if (!tries) {
    in_slices(false);
  }
  if (outcome.why.empty() && outcome.status != Status::done) {
    outcome.why = "another rank could not set its GPUs";
  }
  switch (outcome.status) {
    case Status::done:
      break;
    case Status::refused:
      return refused(setting, outcome.why);
    case Status::lease_lost:
      if (outcome.lessor_away) {
        wait_for_lessor(outcome.why);
      } else {
        stop(outcome.why, parts_.ranks.alone() ? State::interrupted : State::left);
      }
      return ProfilerActions{};
    case Status::hopeless:
      stop(outcome.why);
      return ProfilerActions{};
  }
  if (setting == as_found) {
    parts_.reporter.tell(SettingsRestored{});
    return std::nullopt;
  }
  slice_setting_ = setting;
  if (optimum) {
    state_ = State::in_force;
  }
  parts_.reporter.tell(SettingApplied{.setting = setting, .enforced = outcome.enforced, .optimum = optimum});
  return std::nullopt;
}

ProfilerActions Tuner::refused(const PowerSetting& setting, const std::string& why) {
  parts_.reporter.tell(SettingRefused{.setting = setting, .why = why});
  if (!std::exchange(refusal_said_, true)) {
    parts_.reporter.warn(fmt::format("power settings that a GPU refuses are left out: {}", why));
  }
  return held_ ? ProfilerActions{{.kind = ProfilerActionKind::set, .setting = as_found}} : profiler_->on_refused();
}

ProfilerActions Tuner::close_window() {
  WindowReading reading = window_.close();
  reading.trouble = !trouble_.empty();
  parts_.ranks.agree(reading);
  if (reading.trouble) {
    throw AgreedFailure{ErrorKind::unavailable, trouble_.empty() ? "another rank lost its lease" : trouble_, {}};
  }
  const Seconds shortest = sweeps() ? window_.shortest() : Seconds{0};
  if (const std::string why_lost = reading.why_not(shortest); !why_lost.empty()) {
    if (reading.overruled) {
      profiler_->on_overruled();
    }
    parts_.reporter.tell(SliceLost{.setting = slice_setting_, .why = why_lost});
    return profiler_->on_slice_lost();
  }
  measured_anything_ = true;
  profiled_ = true;
  const optimize::SliceReading slice = reading.of_a_boundary();
  parts_.reporter.tell(SliceMeasured{.setting = slice_setting_,
                                     .steps = window_.steps(),
                                     .time = slice.time,
                                     .energy = slice.energy,
                                     .capped = slice.capped});
  return profiler_->on_slice(slice);
}

void Tuner::in_slices(bool now) {
  const Instant at = parts_.clock.now();
  if (in_slices_since_) {
    profiling_time_ += at - *in_slices_since_;
    in_slices_since_.reset();
  }
  if (now) {
    in_slices_since_ = at;
  }
  const auto part = parts_.account.part();
  if (part == Part::steps || part == Part::slices) {
    parts_.account.enter(now ? Part::slices : Part::steps);
  }
}

void Tuner::note_end_of_profiling() {
  in_slices(false);
  const std::optional<PowerSetting> choice = profiler_->optimum();
  const std::uint64_t steps = measured_anything_ ? profiler_->steps() : 0;
  if (!choice) {
    stop("none of the power settings could be measured");
    return;
  }
  if (state_ == State::profiling) {
    state_ = State::as_found;
  }
  const records::PowerProfile found = profile();
  if (parts_.options.mode != TrainingMode::optimize) {
    parts_.group.release();
  }
  parts_.reporter.tell(
      ProfilingDone{.optimum = choice, .steps = steps, .profile = found, .saving = saving_of(found, *choice)});
  if (measured_anything_ && parts_.ranks.leads() && !parts_.options.files.profiles.empty()) {
    try {
      keep_profile(parts_.options.files.profiles, found);
    } catch (const std::exception& error) {
      parts_.reporter.warn(fmt::format("the power profile is not kept: {}", error.what()));
    }
  }
  watch_from_now();
}

void Tuner::watch_from_now() {
  const std::optional<PowerSetting> in_force = applied() ? profiler_->optimum() : predicted_from(parts_);
  for (const records::PowerMeasurement& m : profiler_->measurements()) {
    if (in_force == m.setting) {
      watch_.expect(m.step_time, m.step_time_uncertainty);
    }
  }
}

std::optional<PowerSetting> Tuner::optimum() const {
  if (held_) {
    return state_ == State::as_found ? std::nullopt : held_;
  }
  return profiler_ && profiler_->done() ? profiler_->optimum() : std::nullopt;
}

records::PowerProfile Tuner::profile() const {
  records::PowerProfile profile;
  profile.gpu = parts_.fleet.product;
  profile.gpus = std::max(parts_.fleet.gpus, 1U);
  profile.batch_size = batch_size_;
  if (profiler_) {
    profile.complete = profiler_->done();
    profile.measurements = profiler_->measurements();
  }
  return profile;
}

void Tuner::put_back() {
  in_slices(false);
  try {
    window_.cancel();
  } catch (const std::exception& error) {
    parts_.reporter.warn(error.what());
  }
  if (parts_.group.leased()) {
    parts_.group.release();
    parts_.reporter.tell(SettingsRestored{});
  }
}

void Tuner::stop(const std::string& why, State state) {
  if (!is_left()) {
    parts_.reporter.warn(fmt::format("the training goes on without being optimized: {}", why));
    leave(why, state);
  }
}

void Tuner::leave(const std::string& why, State state) {
  put_back();
  watch_.expect(std::nullopt);
  why_not_ = why;
  state_ = state;
  parts_.reporter.tell(Unoptimized{.why = why});
}

}  // namespace zeus::train
