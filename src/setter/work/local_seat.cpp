#include "setter/work/local_seat.hpp"

#include "base/log.hpp"
#include "control/restoration.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace zeus::setter {

namespace {

// Within the patience of a call.
constexpr Seconds patience_with_others{1};

// The process's name and where it runs, for people; the kernel alone tells processes apart.
control::LeaseClient described(control::LeaseClient client, const FileTree& machine) {
  if (client.process) {
    const std::optional<Holder> found = find_holder(machine, client.process->pid);
    if (found && found->started == client.process->started) {
      client.process = found;
      constexpr std::size_t longest = 4096;
      client.control_group = machine.read(fmt::format("/proc/{}/cgroup", client.process->pid), longest);
      if (client.control_group && client.control_group->ends_with('\n')) {
        client.control_group->pop_back();
      }
    }
  }
  return client;
}

void apply(control::Lease& lease, const Setting& setting, SettingResult& result) {
  if (const auto* const limit = std::get_if<SetPowerLimit>(&setting)) {
    result.enforced = lease.set_power_limit(limit->limit).enforced;
  } else if (const auto* const lock = std::get_if<LockClocks>(&setting)) {
    const control::ClockSetting locked = lease.lock_clocks(lock->domain, lock->range);
    result.locked_to = locked.locked_to;
    result.running = locked.running;
  } else if (const auto* const unlock = std::get_if<UnlockClocks>(&setting)) {
    if (unlock->domain) {
      lease.unlock_clocks(*unlock->domain);
    } else {
      lease.unlock_all_clocks();
    }
  } else {
    result.persistence = lease.set_persistence_mode(std::get<SetPersistence>(setting).enabled);
  }
}

// Nothing may be thrown to zeusd.
std::optional<Error> error_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error{ErrorKind::internal, error.what()};
  }
}

}  // namespace

std::optional<Error> LocalSeat::attempt(const std::function<void()>& work) {
  const auto once = [&] {
    const auto inside = parts_.gate->enter();
    return error_of(work);
  };
  const auto is_lost = [this] {
    const auto inside = parts_.gate->enter();
    const Reading<Watts> limit = parts_.gpu.gpu->power_limits().current;
    return !limit && limit.failure().reason == Reason::lost;
  };
  std::optional<Error> error = once();
  if (error && is_lost() && parts_.gate->reopen(*parts_.gpu.gpu)) {
    error = once();
  }
  return error;
}

control::Lease& LocalSeat::lease(LeaseNumber number) {
  const auto found = leases_.find(number);
  if (found == leases_.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no lease {} of this GPU", number)};
  }
  return found->second;
}

std::string LocalSeat::client_of(LeaseNumber number) const {
  const auto found = leases_.find(number);
  return found != leases_.end() && found->second.client() ? to_text(*found->second.client()) : std::string{};
}

// Whose settings the GPU has, as far as its record says.
std::string LocalSeat::holder() const {
  try {
    const std::optional<control::LeaseRecord> record = ledger_.read(parts_.gpu.gpu->identity().uuid);
    return record ? to_text(*record) : "no holder is on record";
  } catch (const Error& error) {
    return error.message();
  }
}

void LocalSeat::tell_what_was_put_back() {
  const std::string uuid = parts_.gpu.gpu->identity().uuid;
  if (const std::optional<control::LeaseRecord> note = ledger_.note(uuid)) {
    // A guardian also puts back what a driver that hangs keeps its living holder from putting back.
    const std::optional<Holder> now = find_holder(ledger_.machine(), note->holder.pid);
    const bool lives = now && now->started == note->holder.started;
    log::warning(fmt::format("{} was put back to {} because {} {}", note->gpu_name, to_text(note->found),
                             to_text(*note), lives ? "did not do so in time" : "had ended without doing so"));
    parts_.audited->note(*note);
    ledger_.drop_note(uuid);
  }
}

Taken LocalSeat::take(LeaseNumber number, Seconds term, const control::LeaseClient& client) {
  Taken taken{.client = described(client, ledger_.machine()), .found = {}, .error = {}};
  if (term > longest_term || leases_.size() >= most_leases || leases_.contains(number)) {
    taken.error = Error{ErrorKind::invalid_argument,
                        fmt::format("lease {} cannot be taken for {:.6g} s: there are {}, with this number: {}", number,
                                    term.value(), leases_.size(), leases_.contains(number))};
    return taken;
  }
  taken.error = attempt([&] {
    parts_.audited->begin(
        {.why = "put back: left by a dead holder", .who = holder(), .lease = 0, .is_putting_back = true});
    leases_.emplace(number, book_.acquire(parts_.gpu.gpu->identity().uuid, term,
                                          {.client = taken.client, .patience = patience_with_others}));
    tell_what_was_put_back();
    taken.found = parts_.gpu.gpu->power_limits().current;
  });
  return taken;
}

SettingResult LocalSeat::set(LeaseNumber number, const Setting& setting) {
  SettingResult result;
  result.error = attempt([&] {
    parts_.audited->begin({.why = "set", .who = client_of(number), .lease = number});
    apply(lease(number), setting, result);
  });
  if (!result.error) {
    return result;
  }
  const auto inside = parts_.gate->enter();
  // A slow driver and an expired lease are both timeouts; an expired lease gives the same message again.
  static_cast<void>(error_of([&] {
    result.is_over = result.error->kind() == ErrorKind::timeout && lease(number).overruled() == result.error->message();
  }));
  // To ask a GPU for what it does not support is the client's mistake.
  if (parts_.audited->failed_by() == Reason::unsupported) {
    result.error = Error{ErrorKind::invalid_argument, result.error->message(), result.error->advice()};
  }
  return result;
}

std::optional<Error> LocalSeat::renew(LeaseNumber number) {
  return attempt([&] { lease(number).renew(); });
}

std::optional<Error> LocalSeat::restore(LeaseNumber number) {
  return attempt([&] {
    parts_.audited->begin(
        {.why = "put back: asked for", .who = client_of(number), .lease = number, .is_putting_back = true});
    lease(number).restore();
  });
}

std::optional<Error> LocalSeat::release(LeaseNumber number, const std::string& why) {
  const auto found = leases_.find(number);
  if (found == leases_.end()) {
    return std::nullopt;
  }
  const auto inside = parts_.gate->enter();
  parts_.audited->begin(
      {.why = fmt::format("put back: {}", why), .who = holder(), .lease = number, .is_putting_back = true});
  std::optional<Error> error = error_of([&] { found->second.release(); });
  leases_.erase(found);
  static_cast<void>(error_of([&] { tell_what_was_put_back(); }));
  return error;
}

std::optional<std::string> LocalSeat::put_back_what_was_left() {
  std::optional<std::string> failure;
  parts_.audited->begin(
      {.why = "put back: left by a dead holder", .who = holder(), .lease = 0, .is_putting_back = true});
  const std::optional<Error> error = attempt([&] {
    for (const control::Restoration& one :
         control::restore_abandoned(ledger_, std::span{&parts_.gpu, 1}, clock_, parts_.gpu.gpu->identity().uuid)) {
      if (one.result == control::Restoration::Result::failed) {
        failure = fmt::format("{} is not put back: {}", one.name, one.why);
      } else if (one.result == control::Restoration::Result::restored && !one.claim->found.empty() &&
                 !one.claim->client) {
        log::warning(fmt::format("{} was put back to {}, because {} had ended without doing so", one.name,
                                 to_text(one.claim->found), to_text(*one.claim)));
      }
    }
    tell_what_was_put_back();
  });
  return error ? std::optional<std::string>{error->what()} : failure;
}

std::string LocalSeat::overruled(LeaseNumber number) {
  std::string why;
  const std::optional<Error> error = attempt([&] { why = lease(number).overruled(); });
  return error ? error->message() : why;
}

void LocalSeat::release_all(const std::string& why) {
  while (!leases_.empty()) {
    if (const std::optional<Error> error = release(leases_.begin()->first, why)) {
      log::warning(error->what());
    }
  }
}

}  // namespace zeus::setter
