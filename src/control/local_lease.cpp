#include "control/local_lease.hpp"

#include "control/put_back.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::control {

using device::Outcome;

namespace {

// A holder that makes progress notices its guardian's death within this time.
constexpr Seconds between_looks{0.05};

}  // namespace

LocalLease::LocalLease(LeasePlace place, device::DiscoveredGpu gpu, Seconds term, std::optional<LeaseClient> client)
    : ledger_{std::move(place.ledger)},
      guardian_{std::move(place.guardian)},
      clock_{place.clock},
      gpu_{std::move(gpu)},
      name_{to_text(gpu_)},
      lock_{ledger_->lock(gpu_.gpu->identity().uuid)},
      term_{term},
      client_{std::move(client)} {
}

void LocalLease::tell_others(const Found& before) {
  Found changed = holding_->in_force();
  // Persistence mode changes nothing while the GPU is in use.
  changed.persistence_mode.reset();
  if (changed.power_limit == before.power_limit) {
    changed.power_limit.reset();
  }
  std::erase_if(changed.clocks, [&](const auto& one) {
    const auto former = before.clocks.find(one.first);
    return former != before.clocks.end() && former->second == one.second;
  });
  for (auto& [number, other] : holding_->shares) {
    if (!changed.empty() && number != share_) {
      other.overruled = fmt::format("{} was set to {} from elsewhere in this process", name_, to_text(changed));
    }
  }
}

void LocalLease::count_change(LeaseRecord& next) const {
  if (holding_->borrowed) {
    ++next.lending->changes;
  }
}

void LocalLease::save_power_limit() {
  if (!holding_->ours().found.power_limit) {
    LeaseRecord next = holding_->record;
    holding_->part_of(next).found.power_limit = gpu_.gpu->power_limits().current.or_throw(
        fmt::format("reading the power limit of {} before changing it", name_));
    count_change(next);
    write(next);
  }
}

Found LocalLease::touched(Found kinds) const {
  if (!kinds.clocks.empty() && gpu_.control->reset_frees_all_domains()) {
    for (const ClockDomain domain : {ClockDomain::graphics, ClockDomain::memory}) {
      kinds.clocks.try_emplace(domain);
    }
  }
  return kinds;
}

FoundClocks LocalLease::find_clocks(ClockDomain domain) const {
  const Reading<std::optional<ClockRange>> locked = gpu_.gpu->locked_clocks(domain);
  if (!locked && locked.failure().reason != Reason::unsupported) {
    throw to_error(locked.failure(),
                   fmt::format("reading the locked {} clocks of {} before changing them", to_string(domain), name_));
  }
  if (locked) {
    return {true, *locked};
  }
  const auto& lent = holding_->record.clocks;
  return holding_->borrowed && lent && lent->contains(domain) ? lent->at(domain) : FoundClocks{};
}

void LocalLease::save_clocks(const Found& setting) {
  LeaseRecord next = holding_->record;
  Claim& ours = holding_->part_of(next);
  for (const auto& [domain, clocks] : touched(setting).clocks) {
    if (!ours.found.clocks.contains(domain)) {
      ours.found.clocks[domain] = find_clocks(domain);
    }
  }
  if (ours.found != holding_->ours().found) {
    count_change(next);
  }
  if (next.lending) {
    ours.clocks = overlaid(holding_->settings.latest(), setting).clocks;
  }
  if (next != holding_->record) {
    write(next);
  }
}

void LocalLease::forget_withdrawn(LeaseRecord& next, bool is_put_back) const {
  const Found set = holding_->settings.latest();
  Claim& ours = holding_->part_of(next);
  if (is_put_back) {
    ours.found = only(ours.found, touched(set));
  }
  ours.clocks = next.lending && !set.clocks.empty() ? std::optional{set.clocks} : std::nullopt;
}

Outcome LocalLease::reset_clocks(ClockDomain domain) {
  Outcome outcome = gpu_.control->reset_clocks(domain);
  if (!outcome || !gpu_.control->reset_frees_all_domains()) {
    return outcome;
  }
  for (const auto& [other, clocks] : holding_->in_force().clocks) {
    if (other != domain && clocks.locked_to && !gpu_.control->lock_clocks(other, *clocks.locked_to)) {
      outcome = Failure{Reason::unknown, "this freed other clocks as well, which could not be locked again"};
    }
  }
  return outcome;
}

void LocalLease::save_persistence_mode() {
  if (!holding_->ours().found.persistence_mode) {
    LeaseRecord next = holding_->record;
    holding_->part_of(next).found.persistence_mode = gpu_.gpu->persistence_mode().or_throw(
        fmt::format("reading the persistence mode of {} before changing it", name_));
    write(next);
  }
}

template <typename Set>
void LocalLease::set(const Found& setting, const LeaseRecord& before, const std::string& what, const Set& at_device) {
  const Found in_force = holding_->in_force();
  const SharedSettings settings = holding_->settings;
  holding_->settings.set(share_, setting);
  const Outcome outcome = at_device();
  require_in_time();
  if (!outcome) {
    const Reason reason = outcome.failure().reason;
    if (reason == Reason::permission || reason == Reason::unsupported || reason == Reason::out_of_range) {
      holding_->settings = settings;
      if (holding_->record != before) {
        write(before);
      }
      throw to_error(outcome.failure(), fmt::format("setting the {} of {}", what, name_));
    }
  }
  holding_->shares[share_].overruled.clear();
  holding_->shares[share_].changes_seen = holding_->changes_by_children();
  tell_others(in_force);
  if (!outcome) {
    throw to_error(outcome.failure(), fmt::format("setting the {} of {}", what, name_));
  }
}

// Drivers round: what comes back later is what the driver made of the setting.
void LocalLease::keep(const Found& setting) {
  holding_->settings.set(share_, setting);
}

PowerSetting LocalLease::set_power_limit(Watts limit) {
  const GpuLock::Work work = begin_setting();
  const LeaseRecord before = holding_->record;
  save_power_limit();
  set({.power_limit = limit, .clocks = {}, .persistence_mode = {}}, before,
      fmt::format("power limit {:.6g} W", limit.value()), [&] { return gpu_.control->set_power_limit(limit); });
  const PowerLimits limits = gpu_.gpu->power_limits();
  keep({.power_limit = limits.current.optional().value_or(limit), .clocks = {}, .persistence_mode = {}});
  return {limit, limits.enforced};
}

ClockSetting LocalLease::lock_clocks(ClockDomain domain, ClockRange range) {
  const GpuLock::Work work = begin_setting();
  const LeaseRecord before = holding_->record;
  const ClockDomain locked_domain = device::locked_as(domain);
  const auto setting_of = [&](std::optional<ClockRange> clocks) {
    return Found{.power_limit = {}, .clocks = {{locked_domain, FoundClocks{true, clocks}}}, .persistence_mode = {}};
  };
  save_clocks(setting_of(range));
  set(setting_of(range), before,
      fmt::format("{} clocks to {:.6g}-{:.6g} MHz", to_string(domain), range.minimum.value(), range.maximum.value()),
      [&] { return gpu_.control->lock_clocks(locked_domain, range); });
  const device::Clocks clocks = gpu_.gpu->clocks();
  const Reading<std::optional<ClockRange>> locked = gpu_.gpu->locked_clocks(locked_domain);
  keep(setting_of(locked.optional().value_or(range)));
  return {range, locked,
          domain == ClockDomain::memory ? clocks.memory
          : domain == ClockDomain::sm   ? clocks.sm
                                        : clocks.graphics};
}

void LocalLease::unlock_clocks(ClockDomain domain) {
  const GpuLock::Work work = begin_setting();
  const LeaseRecord before = holding_->record;
  const ClockDomain locked_domain = device::locked_as(domain);
  const Found setting{
      .power_limit = {}, .clocks = {{locked_domain, FoundClocks{true, std::nullopt}}}, .persistence_mode = {}};
  save_clocks(setting);
  set(setting, before, fmt::format("{} clocks free", to_string(domain)), [&] { return reset_clocks(locked_domain); });
}

void LocalLease::unlock_all_clocks() {
  const GpuLock::Work work = begin_setting();
  const LeaseRecord before = holding_->record;
  Found setting;
  for (const ClockDomain domain : {ClockDomain::graphics, ClockDomain::memory}) {
    setting.clocks[domain] = FoundClocks{true, std::nullopt};
  }
  save_clocks(setting);
  set(setting, before, "clocks free", [&] { return gpu_.control->reset_all_clocks(); });
}

Reading<bool> LocalLease::set_persistence_mode(bool enabled) {
  const GpuLock::Work work = begin_setting();
  const LeaseRecord before = holding_->record;
  save_persistence_mode();
  set({.power_limit = {}, .clocks = {}, .persistence_mode = enabled}, before,
      fmt::format("persistence mode {}", enabled ? "on" : "off"),
      [&] { return gpu_.control->set_persistence_mode(enabled); });
  return gpu_.gpu->persistence_mode();
}

std::string LocalLease::overruled() {
  const GpuLock::Work work = begin();
  const auto mine = holding_->shares.find(share_);
  if (released_ || mine == holding_->shares.end()) {
    return {};
  }
  if (!still_holds()) {
    return overdue().message();
  }
  const Claim* const child = holding_->borrowed ? nullptr : holding_->record.child();
  const bool set_by_child = child != nullptr && (child->found.power_limit || !child->found.clocks.empty());
  if (set_by_child || holding_->changes_by_children() != mine->second.changes_seen) {
    return fmt::format("{} was set by a process that this one has started", name_);
  }
  return mine->second.overruled;
}

void LocalLease::restore() {
  const GpuLock::Work work = begin();
  require_ours();
  if (holding_->ours().found.empty()) {
    return;
  }
  if (const std::optional<std::string> failure = withdraw()) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", name_, *failure),
                "release the lease, then see what `zeus restore` says"};
  }
  require_in_time();
  LeaseRecord next = holding_->record;
  forget_withdrawn(next, true);
  if (next != holding_->record) {
    write(next);
  }
}

void LocalLease::renew() {
  const Instant now = clock_->now();
  if (now.nanoseconds >= holding_->renew_at) {
    require_this_process();
    const GpuLock::Work work = begin_change();
  } else if (now.nanoseconds >= look_at_) {
    require_this_process();
    guardian_->watch(gpu_.gpu->identity().uuid);
    look_at_ = (now + between_looks).nanoseconds;
  }
}

void LocalLease::release() {
  const GpuLock::Work work = begin();
  // A lease that ran out has been put back, and another process may have the GPU now.
  if (released_ || !still_holds()) {
    released_ = true;
    return;
  }
  if (const std::optional<std::string> failure = leave()) {
    throw Error{ErrorKind::unavailable, fmt::format("{} could not be put back: {}", name_, *failure),
                "Zeus tries again; `zeus restore` shows how far it is, and tries as well"};
  }
}

}  // namespace zeus::control
