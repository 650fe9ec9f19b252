#include "control/lease.hpp"

#include "base/log.hpp"
#include "control/claim_end.hpp"
#include "control/lease_state.hpp"
#include "control/put_back.hpp"
#include "control/restoration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::control {

using device::Outcome;

namespace {

// How long a guardian's death may go unnoticed by a holder that makes progress.
constexpr Seconds between_looks{0.05};

}  // namespace

Seconds Holding::term() const {
  Seconds longest{0};
  for (const auto& [number, share] : shares) {
    longest = std::max(longest, share.term);
  }
  return longest;
}

bool Holding::is_in(const LeaseRecord& written) const {
  const Claim* const claim = borrowed ? written.child() : &written;
  return claim != nullptr && claim->lease == ours().lease && written.boot == record.boot;
}

Instant Holding::ends() const {
  return std::min(ours().expires, record.expires);
}

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

GpuLock::Work Lease::State::begin_setting() {
  GpuLock::Work work = begin_change();
  const Claim* const child = holding->borrowed ? nullptr : holding->record.child();
  if (child == nullptr) {
    return work;
  }
  if (ledger->standing(holding->record, clock->now()) != Standing::child_abandoned) {
    throw Error{ErrorKind::conflict,
                fmt::format("{} is set by {}, which this process has started", name(), to_text(child->holder)),
                "go on without setting it, or wait until that process is done"};
  }
  const ClaimEnd ending = end_of_child(holding->record);
  if (const std::optional<std::string> failure = put_back(ending.put_back, gpu)) {
    throw Error{
        ErrorKind::unavailable,
        fmt::format("{} could not be put back to what {} had found: {}", name(), to_text(child->holder), *failure),
        "`zeus restore` says where it stands, and tries as well"};
  }
  write(*ending.left);
  return work;
}

bool Lease::State::look() {
  const std::optional<LeaseRecord> written = ledger->read(holding->record.gpu);
  if (!written || written->boot != holding->record.boot) {
    return false;
  }
  if (holding->borrowed && written->lease == holding->ours().lease) {
    holding->borrowed = false;  // whom it was borrowed from has released it
  } else if (!holding->is_in(*written)) {
    return false;
  }
  holding->record = *written;
  return true;
}

bool Lease::State::still_holds() {
  if (!holding->over && !look()) {
    end();
  }
  return !holding->over;
}

void Lease::State::require_ours() {
  if (released) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the lease of {} has been released", name()),
                "take another one"};
  }
  if (!still_holds()) {
    throw overdue();
  }
  holding->in_time_until = holding->ends();
  require_in_time();
  extend();
  require_in_time();
}

void Lease::State::require_in_time() {
  if (clock->now() < holding->in_time_until) {
    return;
  }
  // Nobody else can have taken the GPU while we work on it, so what was found is still what it should be put back to.
  std::optional<LeaseRecord> written = ledger->read(holding->record.gpu);
  const bool still_there = written && holding->is_in(*written);
  const ClaimEnd due = ending(written);
  if (!put_back(due.put_back, gpu)) {
    if (still_there || !written) {
      ledger->settle(holding->record, due);
    }
  } else if (!still_there) {
    LeaseRecord again = holding->record;
    if (written && written->lease == again.lease) {
      again.expires = written->expires;
    }
    ledger->write(again);
  }
  end();
  throw overdue();
}

ClaimEnd Lease::State::ending(const std::optional<LeaseRecord>& written) const {
  const LeaseRecord& record = holding->record;
  const bool lender_goes_on =
      holding->borrowed && written && written->lease == record.lease && clock->now() < record.expires;
  return lender_goes_on ? end_of_child(record) : end_of_lease(record);
}

Error Lease::State::overdue() const {
  if (holding->borrowed && clock->now() < holding->ours().expires) {
    return Error{
        ErrorKind::timeout,
        fmt::format("the lease of {} ended with that of {}, from which it was, and what it had set was put back",
                    name(), to_text(holding->record.holder)),
        "take another one"};
  }
  return Error{ErrorKind::timeout,
               fmt::format("the lease of {} was not renewed for {:.6g} s, and what it had set was put back", name(),
                           holding->term().value()),
               "take another one; go on without it if somebody else has it now"};
}

void Lease::State::write(const LeaseRecord& next) {
  try {
    ledger->write(next);
  } catch (const Error&) {
    require_in_time();  // who puts back an overdue GPU also clears away what was being written
    throw;
  }
  holding->record = next;
  holding->renew_at = (holding->ours().expires - holding->term() / 2).nanoseconds;
  guardian->notice();
}

void Lease::State::extend() {
  const Instant now = clock->now();
  if (now.nanoseconds >= holding->renew_at) {
    LeaseRecord next = holding->record;
    holding->part_of(next).expires = now + holding->term();
    write(next);
  }
}

void Lease::State::end() {
  holding->over = true;
  lock->let_go(holding->ours().lease);
  guardian->notice();
}

void Lease::State::join() {
  const bool first = holding->shares.empty();
  const Seconds former = holding->term();
  share = holding->next_share++;
  holding->shares[share] = {.term = term, .overruled = {}, .changes_seen = holding->changes_by_children()};
  holding->in_time_until = holding->ends();
  if (!first && !(term > former)) {
    return;
  }
  LeaseRecord next = holding->record;
  holding->part_of(next).expires = clock->now() + term;
  try {
    write(next);
  } catch (...) {
    holding->shares.erase(share);
    throw;
  }
}

std::optional<std::string> Lease::State::withdraw() {
  const Found before = holding->in_force();
  const Found kinds = holding->settings.of(share);
  holding->settings.withdraw(share);
  holding->shares[share].overruled.clear();
  tell_others(before);
  return put_back(leave_to_child(only(holding->in_force(), kinds)), gpu);
}

Found Lease::State::leave_to_child(const Found& coming_back) {
  if (holding->borrowed || holding->record.child() == nullptr) {
    return coming_back;
  }
  LeaseRecord next = holding->record;
  Found& found = next.lending->child->found;
  const Found changed = found;
  found = overlaid(found, only(coming_back, found));
  if (next != holding->record) {
    write(next);
  }
  return without(coming_back, changed);
}

std::optional<std::string> Lease::State::leave() {
  released = true;
  return holding->shares.size() > 1 ? leave_to_others() : give_up();
}

std::optional<std::string> Lease::State::leave_to_others() {
  holding->in_time_until = holding->ends();
  const Seconds former = holding->term();
  std::optional<std::string> failure = withdraw();
  holding->shares.erase(share);
  LeaseRecord next = holding->record;
  Claim& ours = holding->part_of(next);
  if (holding->term() < former) {
    ours.expires = clock->now() + holding->term();
  }
  if (!failure) {
    ours.found = only(ours.found, holding->settings.latest());
  }
  if (next != holding->record) {
    write(next);
  }
  return failure;
}

bool Lease::State::child_goes_on() const {
  return !holding->borrowed && holding->record.child() != nullptr &&
         ledger->standing(holding->record, clock->now()) == Standing::held;
}

std::optional<std::string> Lease::State::give_to_child() {
  std::optional<std::string> failure = put_back(leave_to_child(holding->record.found), gpu);
  LeaseRecord next = holding->record;
  static_cast<Claim&>(next) = *holding->record.child();
  next.lending = Lending{};
  ledger->write(next);
  end();
  return failure;
}

std::optional<std::string> Lease::State::give_up() {
  if (child_goes_on()) {
    return give_to_child();
  }
  const ClaimEnd due = holding->borrowed ? end_of_child(holding->record) : end_of_lease(holding->record);
  std::optional<std::string> failure = put_back(due.put_back, gpu);
  if (!failure) {
    try {
      ledger->settle(holding->record, due);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  end();
  return failure;
}

void Lease::State::tell_others(const Found& before) {
  Found changed = holding->in_force();
  // It changes nothing while somebody uses the GPU.
  changed.persistence_mode.reset();
  if (changed.power_limit == before.power_limit) {
    changed.power_limit.reset();
  }
  std::erase_if(changed.clocks, [&](const auto& one) {
    const auto former = before.clocks.find(one.first);
    return former != before.clocks.end() && former->second == one.second;
  });
  for (auto& [number, other] : holding->shares) {
    if (!changed.empty() && number != share) {
      other.overruled = fmt::format("{} was set to {} from elsewhere in this process", name(), to_text(changed));
    }
  }
}

void Lease::State::count_change(LeaseRecord& next) const {
  if (holding->borrowed) {
    ++next.lending->changes;
  }
}

void Lease::State::save_power_limit() {
  if (!holding->ours().found.power_limit) {
    LeaseRecord next = holding->record;
    holding->part_of(next).found.power_limit = gpu.gpu->power_limits().current.or_throw(
        fmt::format("the power limit of {}, which has to be known before it is changed", name()));
    count_change(next);
    write(next);
  }
}

void Lease::State::save_clocks(ClockDomain domain) {
  if (holding->ours().found.clocks.contains(domain)) {
    return;
  }
  const Reading<std::optional<ClockRange>> locked = gpu.gpu->locked_clocks(domain);
  if (!locked && locked.failure().reason != Reason::unsupported) {
    throw to_error(locked.failure(),
                   fmt::format("the locked {} clocks of {}, which have to be known before they are changed",
                               to_string(domain), name()));
  }
  LeaseRecord next = holding->record;
  holding->part_of(next).found.clocks[domain] = locked ? FoundClocks{true, *locked} : FoundClocks{};
  count_change(next);
  write(next);
}

void Lease::State::save_persistence_mode() {
  if (!holding->ours().found.persistence_mode) {
    LeaseRecord next = holding->record;
    holding->part_of(next).found.persistence_mode = gpu.gpu->persistence_mode().or_throw(
        fmt::format("the persistence mode of {}, which has to be known before it is changed", name()));
    write(next);
  }
}

template <typename Set>
void Lease::State::set(const Found& setting, const Found& before, const std::string& what, const Set& at_device) {
  const Found in_force = holding->in_force();
  const SharedSettings settings = holding->settings;
  holding->settings.set(share, setting);
  const Outcome outcome = at_device();
  require_in_time();
  if (!outcome) {
    const Reason reason = outcome.failure().reason;
    if (reason == Reason::permission || reason == Reason::unsupported || reason == Reason::out_of_range) {
      holding->settings = settings;
      if (holding->ours().found != before) {
        LeaseRecord next = holding->record;
        holding->part_of(next).found = before;
        write(next);
      }
      throw to_error(outcome.failure(), fmt::format("setting the {} of {}", what, name()));
    }
  }
  holding->shares[share].overruled.clear();
  holding->shares[share].changes_seen = holding->changes_by_children();
  tell_others(in_force);
  if (!outcome) {
    throw to_error(outcome.failure(), fmt::format("setting the {} of {}", what, name()));
  }
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

// Drivers round: what is brought back later is what they made of it.
void Lease::State::keep(const Found& setting) {
  holding->settings.set(share, setting);
}

PowerSetting Lease::set_power_limit(Watts limit) {
  const GpuLock::Work work = state_->begin_setting();
  const Found before = state_->holding->ours().found;
  state_->save_power_limit();
  state_->set({.power_limit = limit, .clocks = {}, .persistence_mode = {}}, before,
              fmt::format("power limit {:.6g} W", limit.value()),
              [&] { return state_->gpu.control->set_power_limit(limit); });
  const PowerLimits limits = state_->gpu.gpu->power_limits();
  state_->keep({.power_limit = limits.current.optional().value_or(limit), .clocks = {}, .persistence_mode = {}});
  return {limit, limits.enforced};
}

ClockSetting Lease::lock_clocks(ClockDomain domain, ClockRange range) {
  const GpuLock::Work work = state_->begin_setting();
  const Found before = state_->holding->ours().found;
  state_->save_clocks(domain);
  state_->set(
      {.power_limit = {}, .clocks = {{domain, FoundClocks{true, range}}}, .persistence_mode = {}}, before,
      fmt::format("{} clocks to {:.6g}-{:.6g} MHz", to_string(domain), range.minimum.value(), range.maximum.value()),
      [&] { return state_->gpu.control->lock_clocks(domain, range); });
  const device::Clocks clocks = state_->gpu.gpu->clocks();
  const Reading<std::optional<ClockRange>> locked = state_->gpu.gpu->locked_clocks(domain);
  state_->keep({.power_limit = {},
                .clocks = {{domain, FoundClocks{true, locked.optional().value_or(range)}}},
                .persistence_mode = {}});
  return {range, locked,
          domain == ClockDomain::memory ? clocks.memory
          : domain == ClockDomain::sm   ? clocks.sm
                                        : clocks.graphics};
}

void Lease::unlock_clocks(ClockDomain domain) {
  const GpuLock::Work work = state_->begin_setting();
  const Found before = state_->holding->ours().found;
  state_->save_clocks(domain);
  state_->set({.power_limit = {}, .clocks = {{domain, FoundClocks{true, std::nullopt}}}, .persistence_mode = {}},
              before, fmt::format("{} clocks free", to_string(domain)),
              [&] { return state_->gpu.control->reset_clocks(domain); });
}

Reading<bool> Lease::set_persistence_mode(bool enabled) {
  const GpuLock::Work work = state_->begin_setting();
  const Found before = state_->holding->ours().found;
  state_->save_persistence_mode();
  state_->set({.power_limit = {}, .clocks = {}, .persistence_mode = enabled}, before,
              fmt::format("persistence mode {}", enabled ? "on" : "off"),
              [&] { return state_->gpu.control->set_persistence_mode(enabled); });
  return state_->gpu.gpu->persistence_mode();
}

std::string Lease::overruled() const {
  const GpuLock::Work work = state_->begin();
  const auto mine = state_->holding->shares.find(state_->share);
  if (state_->released || mine == state_->holding->shares.end()) {
    return {};
  }
  if (!state_->still_holds()) {
    return state_->overdue().message();
  }
  const Claim* const child = state_->holding->borrowed ? nullptr : state_->holding->record.child();
  const bool set_by_child = child != nullptr && (child->found.power_limit || !child->found.clocks.empty());
  if (set_by_child || state_->holding->changes_by_children() != mine->second.changes_seen) {
    return fmt::format("{} was set by a process that this one has started", state_->name());
  }
  return mine->second.overruled;
}

void Lease::restore() {
  const GpuLock::Work work = state_->begin();
  state_->require_ours();
  if (state_->holding->ours().found.empty()) {
    return;
  }
  if (const std::optional<std::string> failure = state_->withdraw()) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", state_->name(), *failure),
                "release the lease, and see what `zeus restore` says"};
  }
  state_->require_in_time();
  LeaseRecord next = state_->holding->record;
  Found& found = state_->holding->part_of(next).found;
  found = only(found, state_->holding->settings.latest());
  if (next != state_->holding->record) {
    state_->write(next);
  }
}

void Lease::renew() {
  const Instant now = state_->clock->now();
  if (now.nanoseconds >= state_->holding->renew_at) {
    const GpuLock::Work work = state_->begin_change();
  } else if (now.nanoseconds >= state_->look_at) {
    state_->require_owner();
    state_->guardian->watch();
    state_->look_at = (now + between_looks).nanoseconds;
  }
}

void Lease::release() {
  const GpuLock::Work work = state_->begin();
  // A lease that ran out has been put back, and somebody else may have the GPU now.
  if (state_->released || !state_->still_holds()) {
    state_->released = true;
    return;
  }
  if (const std::optional<std::string> failure = state_->leave()) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", state_->name(), *failure),
                "it is tried again; `zeus restore` says where it stands, and tries as well"};
  }
}

}  // namespace zeus::control
