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
  stood_still_ = false;
  still_ = devices_.monitor()->stood_still();
  account_.reset();
  account_.emplace(meter_);
  measured_any_ = false;
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

void LiveInstruments::measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) {
  const bool measured_before = std::exchange(measured_any_, true) || !devices_.sets_limits();
  std::vector<Watts> all = reference_.add_to(limits, known, measured_before);
  if (all.size() == 1) {
    if (devices_.sets_limits()) {
      hold(limits.front());
    }
    watch_ = Watch{.limit = limits.front(), .since = {}, .seen = {}};
    return;
  }
  leave();
  set_any_ = true;
  const Seconds each = trial::time_for_each_limit(profile_time_, known.run_time, all.size());
  trial_.emplace(
      LimitTrial::Terms{
          .monitor = devices_.monitor(), .goal = goal_, .eta = eta_, .limits = std::move(all), .each = each},
      clock_);
}

std::vector<records::LimitProfile> LiveInstruments::measured(const std::optional<trial::EpochShape>& shape) {
  if (trial_) {
    return reference_.scale(trial_->measured(shape));
  }
  return watch_ && watch_->seen ? std::vector{*watch_->seen} : std::vector<records::LimitProfile>{};
}

void LiveInstruments::notice_suspension() {
  const Seconds still = devices_.monitor()->stood_still();
  if (still <= std::exchange(still_, still)) {
    return;
  }
  stood_still_ = true;
  if (trial_) {
    trial_->begin_again();
  }
  if (watch_) {
    watch_->since.reset();
  }
}

Instruments::Taken LiveInstruments::close() {
  notice_suspension();
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
  notice_suspension();
  renew();
  if (watch_ && !watch_->seen && !std::exchange(watch_->stepped, true)) {
    watch_->since = look();
  }
  if (trial_) {
    trial_->begin_step();
  }
}

void LiveInstruments::end_steps() {
  notice_suspension();
  if (trial_) {
    trial_->end_steps();
  }
}

void LiveInstruments::end_epoch() {
  notice_suspension();
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
              .stood_still = stood_still_,
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
