#include "control/lease.hpp"

#include "base/log.hpp"
#include "control/lease_state.hpp"
#include "control/put_back.hpp"
#include "control/restoration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::control {

using device::ClockDomain;
using device::ClockRange;
using device::Outcome;
using device::Reading;
using device::Reason;

namespace {

// How long a guardian's death may go unnoticed by a holder that makes progress.
constexpr Seconds between_looks{0.05};

}  // namespace

void Lease::State::require_owner() const {
  if (owner != ::getpid()) {
    throw Error{ErrorKind::conflict,
                fmt::format("the lease of {} belongs to process {}, which forked this one", name(), owner),
                "set it from there"};
  }
}

GpuLock::Work Lease::State::begin() {
  require_owner();
  return lock->begin_work(*clock, work_patience);
}

GpuLock::Work Lease::State::begin_change() {
  require_owner();
  guardian->watch();
  GpuLock::Work work = begin();
  require_ours();
  return work;
}

bool Lease::State::is_ours() const {
  const std::optional<LeaseRecord> written = ledger->read(record.gpu);
  return written && written->lease == record.lease && written->boot == record.boot;
}

void Lease::State::require_ours() {
  if (ended) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the lease of {} has been released", name()),
                "take another one"};
  }
  if (!is_ours()) {
    end();
    throw overdue();
  }
  in_time_until = record.expires;
  require_in_time();
  extend();
  require_in_time();
}

void Lease::State::require_in_time() {
  if (clock->now() < in_time_until) {
    return;
  }
  // Nobody else can have taken the GPU while we work on it, so what we found is still what it should be put back to.
  if (!put_back(record.found, gpu)) {
    ledger->remove(record.gpu);
  } else if (!is_ours()) {
    ledger->write(record);
  }
  end();
  throw overdue();
}

Error Lease::State::overdue() const {
  return Error{ErrorKind::timeout,
               fmt::format("the lease of {} was not renewed for {:.6g} s, and what it had set was put back", name(),
                           term.value()),
               "take another one; go on without it if somebody else has it now"};
}

void Lease::State::write(const LeaseRecord& next) {
  try {
    ledger->write(next);
  } catch (const Error&) {
    require_in_time();  // who puts back an overdue GPU also clears away what was being written
    throw;
  }
  record = next;
  renew_at = (record.expires - term / 2).nanoseconds;
  guardian->notice();
}

void Lease::State::extend() {
  const Instant now = clock->now();
  if (now.nanoseconds >= renew_at) {
    LeaseRecord next = record;
    next.expires = now + term;
    write(next);
  }
}

void Lease::State::end() {
  ended = true;
  lock->let_go(record.lease);
  guardian->notice();
}

void Lease::State::save_power_limit() {
  if (!record.found.power_limit) {
    LeaseRecord next = record;
    next.found.power_limit = gpu.gpu->power_limits().current.or_throw(
        fmt::format("the power limit of {}, which has to be known before it is changed", name()));
    write(next);
  }
}

void Lease::State::save_clocks(ClockDomain domain) {
  if (record.found.clocks.contains(domain)) {
    return;
  }
  const Reading<std::optional<ClockRange>> locked = gpu.gpu->locked_clocks(domain);
  if (!locked && locked.failure().reason != Reason::unsupported) {
    throw to_error(locked.failure(),
                   fmt::format("the locked {} clocks of {}, which have to be known before they are changed",
                               to_string(domain), name()));
  }
  LeaseRecord next = record;
  next.found.clocks[domain] = locked ? FoundClocks{true, *locked} : FoundClocks{};
  write(next);
}

void Lease::State::save_persistence_mode() {
  if (!record.found.persistence_mode) {
    LeaseRecord next = record;
    next.found.persistence_mode = gpu.gpu->persistence_mode().or_throw(
        fmt::format("the persistence mode of {}, which has to be known before it is changed", name()));
    write(next);
  }
}

void Lease::State::require(const Outcome& outcome, const LeaseRecord& before, const std::string& what) {
  require_in_time();
  if (outcome) {
    return;
  }
  const Reason reason = outcome.failure().reason;
  if ((reason == Reason::permission || reason == Reason::unsupported || reason == Reason::out_of_range) &&
      record.found != before.found) {
    LeaseRecord next = record;
    next.found = before.found;
    write(next);
  }
  throw to_error(outcome.failure(), fmt::format("setting the {} of {}", what, name()));
}

Lease::Lease(std::unique_ptr<State> state) : state_{std::move(state)} {
}

Lease::Lease(Lease&& other) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  // What was held before ends with the temporary.
  Lease taken{std::move(other)};
  std::swap(state_, taken.state_);
  return *this;
}

Lease::~Lease() {
  if (!state_ || state_->owner != ::getpid()) {
    return;
  }
  try {
    release();
  } catch (const std::exception& error) {
    log::error(error.what());
  }
}

const device::Gpu& Lease::gpu() const {
  return *state_->gpu.gpu;
}

PowerSetting Lease::set_power_limit(Watts limit) {
  const GpuLock::Work work = state_->begin_change();
  const LeaseRecord before = state_->record;
  state_->save_power_limit();
  state_->require(state_->gpu.control->set_power_limit(limit), before,
                  fmt::format("power limit {:.6g} W", limit.value()));
  return {limit, state_->gpu.gpu->power_limits().enforced};
}

ClockSetting Lease::lock_clocks(ClockDomain domain, ClockRange range) {
  const GpuLock::Work work = state_->begin_change();
  const LeaseRecord before = state_->record;
  state_->save_clocks(domain);
  state_->require(
      state_->gpu.control->lock_clocks(domain, range), before,
      fmt::format("{} clocks to {:.6g}-{:.6g} MHz", to_string(domain), range.minimum.value(), range.maximum.value()));
  const device::Clocks clocks = state_->gpu.gpu->clocks();
  return {range, state_->gpu.gpu->locked_clocks(domain),
          domain == ClockDomain::memory ? clocks.memory
          : domain == ClockDomain::sm   ? clocks.sm
                                        : clocks.graphics};
}

void Lease::unlock_clocks(ClockDomain domain) {
  const GpuLock::Work work = state_->begin_change();
  const LeaseRecord before = state_->record;
  state_->save_clocks(domain);
  state_->require(state_->gpu.control->reset_clocks(domain), before, fmt::format("{} clocks free", to_string(domain)));
}

Reading<bool> Lease::set_persistence_mode(bool enabled) {
  const GpuLock::Work work = state_->begin_change();
  const LeaseRecord before = state_->record;
  state_->save_persistence_mode();
  state_->require(state_->gpu.control->set_persistence_mode(enabled), before,
                  fmt::format("persistence mode {}", enabled ? "on" : "off"));
  return state_->gpu.gpu->persistence_mode();
}

void Lease::restore() {
  const GpuLock::Work work = state_->begin();
  state_->require_ours();
  if (state_->record.found.empty()) {
    return;
  }
  if (const std::optional<std::string> failure = put_back(state_->record.found, state_->gpu)) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", state_->name(), *failure),
                "release the lease, and see what `zeus restore` says"};
  }
  state_->require_in_time();
  LeaseRecord next = state_->record;
  next.found = {};
  state_->write(next);
}

void Lease::renew() {
  const Instant now = state_->clock->now();
  if (now.nanoseconds >= state_->renew_at) {
    const GpuLock::Work work = state_->begin_change();
  } else if (now.nanoseconds >= state_->look_at) {
    state_->require_owner();
    state_->guardian->watch();
    state_->look_at = (now + between_looks).nanoseconds;
  }
}

void Lease::release() {
  const GpuLock::Work work = state_->begin();
  if (state_->ended) {
    return;
  }
  // A lease that ran out has been put back, and somebody else may have the GPU now.
  if (!state_->is_ours()) {
    state_->end();
    return;
  }
  std::optional<std::string> failure = put_back(state_->record.found, state_->gpu);
  if (!failure) {
    try {
      state_->ledger->remove(state_->record.gpu);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  state_->end();
  if (failure) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", state_->name(), *failure),
                "it is tried again; `zeus restore` says where it stands, and tries as well"};
  }
}

}  // namespace zeus::control
