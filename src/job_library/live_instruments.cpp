#include "job_library/live_instruments.hpp"

#include "base/log.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::job_library {

namespace {

// How long limits stay without progress before they are put back: the same as for a Training.
constexpr Seconds lease_term{900};
constexpr Seconds between_renewals{60};

}  // namespace

void LiveInstruments::set_goal(const PowerGoal& goal, double eta) {
  goal_ = goal;
  eta_ = eta;
}

void LiveInstruments::begin() {
  leave();
  left_alone_.clear();
  found_ = devices_.limit_in_force();
  set_any_ = false;
  account_.reset();
  account_.emplace(*devices_.monitor(), devices_.uuids());
}

void LiveInstruments::note(const Error& error) {
  left_alone_ = error.what();
  leases_.clear();
  held_.reset();
  log::warning(fmt::format("power limits are left alone from here on: {}", left_alone_));
}

void LiveInstruments::hold(Watts limit) {
  watch_.reset();
  set_any_ = true;
  try {
    if (leases_.empty()) {
      for (const Gpu& gpu : devices_.gpus()) {
        leases_.push_back(gpu.lease(lease_term));
      }
    }
    for (GpuLease& lease : leases_) {
      lease.set_power_limit(limit);
    }
    held_ = limit;
    renewed_ = clock_.now();
  } catch (const Error& error) {
    note(error);
  }
  // Only now, so that its settings are followed directly by the new ones.
  trial_.reset();
}

void LiveInstruments::leave() {
  trial_.reset();
  watch_.reset();
  leases_.clear();
  held_.reset();
}

// Measures each for as long as the user wants, or shorter if a training is too short: all take at most half of it.
void LiveInstruments::measure(const std::vector<Watts>& limits, std::optional<Seconds> run_time) {
  constexpr double with_settling = 1.25;
  constexpr double warm_up = 1.0;
  constexpr double part = 0.5;
  if (limits.size() == 1) {
    if (devices_.sets_limits()) {
      hold(limits.front());
    }
    watch_ = Watch{.limit = limits.front(), .since = {}, .seen = {}};
    return;
  }
  leave();
  set_any_ = true;
  Seconds each = profile_time_;
  if (run_time) {
    const Seconds fitting = *run_time * (part / (with_settling * static_cast<double>(limits.size()) + warm_up));
    each = std::min(each, std::max(fitting, LimitTrial::shortest_slice));
  }
  trial_.emplace(
      LimitTrial::Terms{.monitor = devices_.monitor(), .goal = goal_, .eta = eta_, .limits = limits, .each = each},
      clock_);
}

std::vector<records::LimitProfile> LiveInstruments::measured(const EpochShape& shape) {
  if (trial_) {
    return trial_->measured(shape);
  }
  return watch_ && watch_->seen ? std::vector{*watch_->seen} : std::vector<records::LimitProfile>{};
}

Instruments::Taken LiveInstruments::close() {
  for (const GpuLease& lease : leases_) {
    if (const std::string why = lease.overruled(); !why.empty()) {
      left_alone_ = why;
    }
  }
  return account_->close();
}

void LiveInstruments::renew() {
  if (leases_.empty() || clock_.now() - renewed_ < between_renewals) {
    return;
  }
  renewed_ = clock_.now();
  try {
    for (GpuLease& lease : leases_) {
      lease.renew();
    }
  } catch (const Error& error) {
    note(error);
  }
}

void LiveInstruments::begin_step() {
  renew();
  if (watch_ && !watch_->seen && !std::exchange(watch_->stepped, true)) {
    watch_->since = look();
  }
  if (trial_) {
    trial_->begin_step();
  }
}

void LiveInstruments::end_steps() {
  if (trial_) {
    trial_->end_steps();
  }
}

void LiveInstruments::end_epoch() {
  renew();
  if (trial_) {
    trial_->end_epoch();
  }
  if (!watch_ || watch_->seen) {
    return;
  }
  const Taken now = look();
  if (watch_->since) {
    const Seconds time = now.time - watch_->since->time;
    const Joules energy = now.energy() - watch_->since->energy();
    if (now.unknown.empty() && time > Seconds{} && energy > Joules{}) {
      watch_->seen = {.limit = watch_->limit, .epoch_time = time, .average_power = energy / time};
    }
  }
  watch_->stepped = false;
  watch_->since = now;
}

Instruments::State LiveInstruments::state() {
  State state{.measuring = false,
              .disturbed = false,
              .left_alone = left_alone_,
              .limit = held_,
              .found = set_any_ ? std::nullopt : found_};
  if (trial_) {
    state.measuring = trial_->measuring();
    state.disturbed = state.measuring;
    state.left_alone = trial_->left_alone().empty() ? left_alone_ : trial_->left_alone();
    state.limit = trial_->chosen();
  } else if (watch_) {
    state.measuring = !watch_->seen && left_alone_.empty();
  }
  return state;
}

}  // namespace zeus::job_library
