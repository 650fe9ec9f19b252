#include "optimize/power_limit/profiler.hpp"

#include "optimize/power_limit/choice.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::optimize {

namespace {

// A setting whose window failed this often in a row cannot be measured.
constexpr std::uint32_t most_losses = 3;
// Steps that are seen together with others make an epoch longer than the one before by this many.
constexpr std::uint64_t longer_by_chance = 1;
constexpr std::uint64_t until_the_epoch_ends = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Profiler::Profiler(std::unique_ptr<PowerLimitPlan> plan, const ProfilerOptions& options)
    : plan_{std::move(plan)},
      options_{options},
      left_{std::uint64_t{options.wait_steps} + 1},
      in_force_{options.baseline},
      epoch_length_{options.steps_per_epoch} {
  if (!plan_) {
    throw Error{ErrorKind::invalid_argument, "the power-limit profiler was given no plan", "give it one"};
  }
}

ProfilerActions Profiler::on_start() {
  return state_ == State::waiting && steps_ == 0 && !plan_->next() ? finish() : ProfilerActions{};
}

ProfilerActions Profiler::on_step_begin() {
  refuse_in(State::reporting, "a step");
  epoch_steps_ = epoch_begun_++;
  between_epochs_ = false;
  if (state_ == State::done) {
    return {};
  }
  steps_ = begun_++;
  if (left_ == until_the_epoch_ends) {
    if (epoch_begun_ <= *epoch_length_ + longer_by_chance) {
      return {};
    }
    epoch_length_.reset();
    return begin_slice();
  }
  if (--left_ > 0) {
    return {};
  }
  switch (state_) {
    case State::waiting:
      return begin_slice();
    case State::settling:
      return open_window();
    case State::measuring:
      state_ = State::reporting;
      return {{.kind = ProfilerActionKind::close_window, .setting = {}}};
    case State::reporting:
    case State::done:
      break;
  }
  return {};
}

ProfilerActions Profiler::on_slice(const SliceReading& reading) {
  require_reporting("the reading of a slice");
  check(reading, slice_.setting);
  lost_ = 0;
  plan_->measured(
      {.setting = slice_.setting, .measure = slice_.measure, .begin = steps_ - slice_.measure, .reading = reading});
  return between_epochs_ ? wait_for_next_epoch() : begin_slice();
}

ProfilerActions Profiler::on_slice_lost() {
  require_reporting("the loss of a slice");
  if (++lost_ == most_losses) {
    lost_ = 0;
    plan_->refused(slice_.setting);
  }
  return between_epochs_ ? wait_for_next_epoch() : begin_slice();
}

ProfilerActions Profiler::on_refused() {
  refuse_in(State::reporting, "a refused setting");
  ProfilerActions actions;
  if (state_ == State::done || state_ == State::waiting) {
    set(actions, options_.baseline);
    return actions;
  }
  if (state_ == State::measuring) {
    actions.push_back({.kind = ProfilerActionKind::cancel_window, .setting = {}});
  }
  plan_->refused(slice_.setting);
  const ProfilerActions next = begin_slice();
  actions.insert(actions.end(), next.begin(), next.end());
  return actions;
}

ProfilerActions Profiler::on_epoch_end(bool last_step_is_over) {
  refuse_in(State::reporting, "the end of an epoch");
  if (epoch_begun_ > 0) {
    epoch_length_ = epoch_begun_;
    last_steps_count_ = last_step_is_over;
  }
  epoch_begun_ = 0;
  epoch_steps_ = 0;
  between_epochs_ = true;
  ProfilerActions actions;
  if (state_ == State::done) {
    return actions;
  }
  if (state_ == State::measuring && left_ == 1 && last_step_is_over) {
    steps_ = begun_;
    state_ = State::reporting;
    actions.push_back({.kind = ProfilerActionKind::close_window, .setting = {}});
    return actions;
  }
  if (state_ == State::measuring) {
    actions.push_back({.kind = ProfilerActionKind::cancel_window, .setting = {}});
  }
  set(actions, options_.baseline);
  if (state_ != State::waiting || left_ == until_the_epoch_ends) {
    state_ = State::waiting;
    left_ = 1;
  }
  return actions;
}

ProfilerActions Profiler::wait_for_next_epoch() {
  if (!plan_->next()) {
    return finish();
  }
  ProfilerActions actions;
  set(actions, options_.baseline);
  state_ = State::waiting;
  left_ = 1;
  return actions;
}

ProfilerActions Profiler::begin_slice() {
  const std::optional<SliceRequest> request = plan_->next();
  if (!request) {
    return finish();
  }
  ProfilerActions actions;
  const std::optional<SliceRequest> fitting = fit(*request);
  if (!fitting) {
    set(actions, options_.baseline);
    state_ = State::waiting;
    left_ = until_the_epoch_ends;
    return actions;
  }
  slice_ = *fitting;
  set(actions, slice_.setting);
  state_ = State::settling;
  left_ = slice_.settle;
  if (left_ == 0) {
    const ProfilerActions opening = open_window();
    actions.insert(actions.end(), opening.begin(), opening.end());
  }
  return actions;
}

ProfilerActions Profiler::open_window() {
  state_ = State::measuring;
  left_ = slice_.measure;
  return {{.kind = ProfilerActionKind::open_window, .setting = {}}};
}

ProfilerActions Profiler::finish() {
  state_ = State::done;
  ProfilerActions actions;
  const std::optional<records::PowerSetting> optimum = plan_->optimum();
  if (optimum && options_.apply) {
    in_force_ = *optimum;
    actions.push_back({.kind = ProfilerActionKind::apply_optimum, .setting = *optimum});
  } else {
    set(actions, options_.baseline);
  }
  return actions;
}

void Profiler::set(ProfilerActions& actions, const records::PowerSetting& setting) {
  if (setting == in_force_) {
    return;
  }
  in_force_ = setting;
  actions.push_back({.kind = ProfilerActionKind::set, .setting = setting});
}

// The window closes at the beginning of the step after its last. That step must belong to the same epoch, unless the
// end of an epoch is a boundary.
std::optional<SliceRequest> Profiler::fit(SliceRequest request) const {
  if (!epoch_length_) {
    return request;
  }
  const std::uint64_t wanted = std::uint64_t{request.settle} + request.measure;
  const std::uint64_t spare = last_steps_count_ ? 0 : 1;
  const std::uint64_t most = *epoch_length_ > 1 ? *epoch_length_ - spare : 0;
  if (most == 0) {
    return std::nullopt;
  }
  if (wanted > most) {
    const auto share = [&](std::uint32_t steps) { return static_cast<std::uint32_t>(steps * most / wanted); };
    // A setting that was to settle settles for a step at least, if there is room for one.
    const std::uint32_t settle = std::max(share(request.settle), std::min(request.settle, std::uint32_t{1}));
    request.settle = std::min(settle, static_cast<std::uint32_t>(most) - 1);
    request.measure =
        std::clamp(share(request.measure), std::uint32_t{1}, static_cast<std::uint32_t>(most) - request.settle);
  }
  const std::uint64_t left = *epoch_length_ > epoch_steps_ ? *epoch_length_ - epoch_steps_ : 0;
  if (left < std::uint64_t{request.settle} + request.measure + spare) {
    return std::nullopt;
  }
  return request;
}

void Profiler::require_reporting(const char* event) const {
  if (state_ != State::reporting) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the power-limit profiler received {}, but has not closed a window", event),
                "report a slice only as the answer to close_window"};
  }
}

void Profiler::refuse_in(State state, const char* event) const {
  if (state_ == state) {
    throw Error{
        ErrorKind::invalid_argument,
        fmt::format("the power-limit profiler received {} before the reading of the window that it closed", event),
        "answer each close_window with on_slice or on_slice_lost before the next event"};
  }
}

}  // namespace zeus::optimize
