#include "train/tuner.hpp"

#include "optimize/power_limit/goal_plan.hpp"
#include "optimize/power_limit/limit_grid.hpp"
#include "optimize/power_limit/setting_range.hpp"
#include "records/energy.hpp"
#include "train/profile_file.hpp"
#include "train/shared_plan.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>
#include <variant>

namespace zeus::train {

using optimize::ProfilerAction;
using optimize::ProfilerActionKind;
using optimize::ProfilerActions;
using records::PowerSetting;

namespace {

// Boundaries between steps that follow sooner than this are none to the profiler.
constexpr Seconds shortest_boundary{0.004};

// What stands for "as it was found", which need not be the same limit on every GPU.
const PowerSetting as_found{};

}  // namespace

Tuner::Tuner(const Parts& parts, Fleet fleet)
    : parts_{parts}, fleet_{std::move(fleet)}, watch_{parts.options.drift_tolerance} {
}

// Whatever goes wrong in here is no reason to end a training.
template <typename Body>
void Tuner::guarded(Body&& body) {
  if (!why_not_.empty()) {
    return;
  }
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& error) {
    stop(error.what());
  }
}

void Tuner::begin(std::optional<std::uint64_t> batch_size, const std::optional<records::PowerProfile>& known,
                  const std::string& again) {
  task_ = Task::profile;
  batch_size_ = batch_size;
  if (parts_.options.mode == TrainingMode::passive) {
    return;
  }
  if (!fleet_.unsettable.empty() && why_not_.empty()) {
    stop(fleet_.unsettable);
  }
  guarded([&] {
    in_slices(false);
    cancel_window();
    end_noted_ = false;
    measured_anything_ = false;
    applied_ = false;
    watch_.expect(std::nullopt);
    const TrainingOptions& options = parts_.options;
    std::unique_ptr<optimize::PowerLimitPlan> plan = plan_for(known);
    optimize::ProfilerOptions profiler_options;
    profiler_options.baseline = as_found;
    profiler_options.wait_steps = options.wait_steps;
    profiler_options.steps_per_epoch = options.steps_per_epoch;
    profiler_options.apply = options.mode == TrainingMode::optimize;
    profiler_ = std::make_unique<optimize::Profiler>(std::move(plan), profiler_options);
    const ProfilerActions actions = profiler_->on_start();
    if (!profiler_->done()) {
      parts_.herald.tell(ProfilingBegun{.batch_size = batch_size, .again = again});
    }
    carry_out(actions);
  });
}

void Tuner::hold(const PowerSetting& setting) {
  take_up_again();
  task_ = Task::hold;
  held_ = setting;
  if (!fleet_.unsettable.empty() && why_not_.empty()) {
    stop(fleet_.unsettable);
  }
  guarded([&] {
    cancel_window();
    watch_.expect(std::nullopt);
    carry_out({{.kind = ProfilerActionKind::apply_optimum, .setting = setting}});
  });
}

// Whether a lost lease kept it from what it was doing; nothing does now.
bool Tuner::take_up_again() {
  if (!lease_lost_ || !parts_.ranks.alone()) {
    return false;
  }
  lease_lost_ = false;
  why_not_.clear();
  return true;
}

std::unique_ptr<optimize::PowerLimitPlan> Tuner::plan_for(const std::optional<records::PowerProfile>& known) {
  std::unique_ptr<optimize::PowerLimitPlan> plan;
  std::string why;
  if (parts_.ranks.leads()) {
    try {
      const TrainingOptions& options = parts_.options;
      const optimize::LimitGrid grid{.step = options.limit_step,
                                     .lowest = options.lowest_limit,
                                     .highest = options.highest_limit,
                                     .limits = options.limits};
      const optimize::SettingRange range{limits_to_try(grid, fleet_.lowest, fleet_.highest, fleet_.found),
                                         options.try_clocks ? fleet_.clocks : std::vector<Megahertz>{}};
      optimize::PlanWish wish{.goal = options.goal,
                              .profiling = options.profiling,
                              .max_power = fleet_.max_power,
                              .training_steps = {},
                              .known = known,
                              .predicted_from = predicted_from()};
      if (options.steps_per_epoch && options.max_epochs) {
        wish.training_steps = *options.steps_per_epoch * *options.max_epochs;
      }
      plan = optimize::make_plan(range, wish);
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  parts_.ranks.share(why);
  if (!why.empty()) {
    throw AgreedFailure{ErrorKind::invalid_argument, why, {}};
  }
  if (!parts_.ranks.alone()) {
    plan = std::make_unique<SharedPlan>(std::move(plan), parts_.ranks);
  }
  return plan;
}

// Observing, what is in force most of the time has to be known as well as the optimum.
std::optional<PowerSetting> Tuner::predicted_from() const {
  if (parts_.options.mode != TrainingMode::observe || !fleet_.found) {
    return std::nullopt;
  }
  return PowerSetting{.limit = *fleet_.found, .clock = std::nullopt};
}

void Tuner::begin_epoch() {
  if (!take_up_again()) {
    return;
  }
  if (task_ == Task::hold) {
    if (const std::optional<PowerSetting> setting = held_) {
      hold(*setting);
    }
    return;
  }
  if (profiler_->done()) {
    guarded([&] {
      carry_out({{.kind = ProfilerActionKind::apply_optimum, .setting = *profiler_->optimum()}});
      watch_from_now();
    });
    return;
  }
  records::PowerProfile known = profile();
  begin(batch_size_, known.measurements.empty() ? std::nullopt : std::optional{known},
        "the leases were lost meanwhile");
}

void Tuner::step(std::uint64_t over) {
  const Instant now = parts_.clock.now();
  if (last_boundary_ && over > 0 && !profiling()) {
    watch_.add(over, now - *last_boundary_);
  }
  last_boundary_ = now;
  if (!has_begun()) {
    return;
  }
  guarded([&] {
    renew();
    if (task_ != Task::profile || !profiler_) {
      return;
    }
    // What is too short for a counter to see is taken together. Ranks would not all do so at the same step, and a sweep
    // has promised how many steps it takes.
    over += std::exchange(pending_, 0);
    const bool may_wait = std::holds_alternative<AdaptiveProfiling>(parts_.options.profiling) && parts_.ranks.alone();
    if (over > 0 && profiling() && may_wait && now - tuned_at_ < shortest_boundary) {
      pending_ = over;
      return;
    }
    tuned_at_ = now;
    if (window_open_ && over > 0) {
      ++window_boundaries_;
      window_steps_ += over;
    }
    profiling_steps_ += profiler_->done() ? 0 : over;
    carry_out(profiler_->on_step_begin());
  });
}

void Tuner::renew() {
  try {
    parts_.group.renew();
  } catch (const Error& error) {
    lease_lost_ = error.kind() == ErrorKind::timeout;
    if (parts_.ranks.alone()) {
      throw;
    }
    // The others go on until the next exchange with them.
    trouble_ = error.what();
    parts_.group.release();
  }
}

void Tuner::end_steps(bool over) {
  const std::uint64_t last = std::exchange(pending_, 0) + (over ? 1 : 0);
  profiling_steps_ += profiling() ? last : 0;
  last_boundary_.reset();
  if (task_ != Task::profile || !profiler_) {
    return;
  }
  guarded([&] {
    // Steps that were too short to be told of one by one have no last one.
    const bool whole = over && last == 1;
    if (window_open_ && whole) {
      ++window_boundaries_;
      ++window_steps_;
    }
    carry_out(profiler_->on_epoch_end(whole));
  });
}

void Tuner::carry_out(ProfilerActions actions) {
  std::deque<ProfilerAction> queue{actions.begin(), actions.end()};
  while (!queue.empty() && why_not_.empty()) {
    const ProfilerAction action = queue.front();
    queue.pop_front();
    if (const std::optional<ProfilerActions> instead = carry_out(action)) {
      queue.assign(instead->begin(), instead->end());
    }
  }
  if (task_ == Task::profile && why_not_.empty() && profiler_->done() && !std::exchange(end_noted_, true)) {
    note_end_of_profiling();
  }
}

// What is to be done instead of what was to follow, if something is.
std::optional<ProfilerActions> Tuner::carry_out(const ProfilerAction& action) {
  switch (action.kind) {
    case ProfilerActionKind::set:
      return set(action.setting, false);
    case ProfilerActionKind::apply_optimum:
      return set(action.setting, true);
    case ProfilerActionKind::open_window:
      open_window();
      break;
    case ProfilerActionKind::close_window:
      return close_window();
    case ProfilerActionKind::cancel_window:
      cancel_window();
      break;
  }
  return std::nullopt;
}

Tuner::Status Tuner::try_to_set(const PowerSetting& setting, std::string& why) {
  enforced_.reset();
  if (!trouble_.empty()) {
    why = trouble_;
    return Status::hopeless;
  }
  try {
    if (setting == as_found) {
      parts_.group.restore();
      return Status::done;
    }
    parts_.group.lease();
  } catch (const std::exception& error) {
    why = error.what();
    return Status::hopeless;
  }
  try {
    enforced_ = parts_.group.apply(setting);
    return Status::done;
  } catch (const Error& error) {
    why = error.what();
    lease_lost_ = error.kind() == ErrorKind::timeout;
    return lease_lost_ || error.kind() == ErrorKind::permission_denied ? Status::hopeless : Status::refused;
  }
}

std::optional<ProfilerActions> Tuner::set(const PowerSetting& setting, bool optimum) {
  // What setting takes is part of the slices that it begins and ends.
  const bool tries = !optimum && setting != as_found;
  if (tries) {
    in_slices(true);
  }
  applied_ = false;
  std::string why;
  std::array<double, 1> worst{static_cast<double>(try_to_set(setting, why))};
  parts_.ranks.max(worst);
  if (!tries) {
    in_slices(false);
  }
  if (why.empty() && worst[0] > 0) {
    why = "another rank could not set its GPUs";
  }
  switch (static_cast<Status>(static_cast<int>(worst[0]))) {
    case Status::done:
      break;
    case Status::refused:
      parts_.herald.tell(SettingRefused{.setting = setting, .why = why});
      if (!std::exchange(refusal_said_, true)) {
        parts_.herald.warn(fmt::format("power settings that a GPU does not take are left out: {}", why));
      }
      if (task_ == Task::hold) {
        held_.reset();
        return ProfilerActions{{.kind = ProfilerActionKind::set, .setting = as_found}};
      }
      return profiler_->on_refused();
    case Status::hopeless:
      stop(why);
      return ProfilerActions{};
  }
  if (setting == as_found) {
    parts_.herald.tell(SettingsRestored{});
  } else {
    applied_ = optimum;
    slice_setting_ = setting;
    parts_.herald.tell(SettingApplied{.setting = setting, .enforced = enforced_, .optimum = optimum});
  }
  return std::nullopt;
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
  const records::PowerProfile found = profile();
  if (parts_.options.mode != TrainingMode::optimize) {
    parts_.group.release();
  }
  parts_.herald.tell(ProfilingDone{.optimum = choice, .steps = steps, .profile = found});
  if (measured_anything_ && parts_.ranks.leads() && !parts_.options.profile_file.empty()) {
    try {
      keep_profile(parts_.options.profile_file, found);
    } catch (const std::exception& error) {
      parts_.herald.warn(fmt::format("the power profile is not kept: {}", error.what()));
    }
  }
  watch_from_now();
}

void Tuner::watch_from_now() {
  const std::optional<PowerSetting> in_force = applied_ ? profiler_->optimum() : predicted_from();
  for (const records::PowerMeasurement& m : profiler_->measurements()) {
    if (in_force == m.setting) {
      watch_.expect(m.step_time);
    }
  }
}

std::optional<PowerSetting> Tuner::optimum() const {
  if (task_ == Task::hold) {
    return held_;
  }
  return profiler_ && profiler_->done() ? profiler_->optimum() : std::nullopt;
}

records::PowerProfile Tuner::profile() const {
  records::PowerProfile profile;
  profile.gpu = fleet_.product;
  profile.gpus = std::max(fleet_.gpus, 1U);
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
    cancel_window();
  } catch (const std::exception& error) {
    parts_.herald.warn(error.what());
  }
  if (parts_.group.leased()) {
    parts_.group.release();
    parts_.herald.tell(SettingsRestored{});
  }
}

void Tuner::stop(const std::string& why) {
  if (why_not_.empty()) {
    parts_.herald.warn(fmt::format("the training goes on without being optimized: {}", why));
    leave(why);
  }
}

void Tuner::leave(const std::string& why) {
  put_back();
  applied_ = false;
  watch_.expect(std::nullopt);
  why_not_ = why;
  parts_.herald.tell(Unoptimized{.why = why});
}

}  // namespace zeus::train
