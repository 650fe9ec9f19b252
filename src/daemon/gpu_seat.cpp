#include "daemon/gpu_seat.hpp"

#include "base/log.hpp"
#include "control/restoration.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace zeus::daemon {

namespace {

// Within the patience of a call.
constexpr Seconds patience_with_others{1};

// The process's name and where it runs, for people; the kernel alone tells processes apart.
control::LeaseClient described(const Client& client, const FileTree& machine) {
  control::LeaseClient described;
  if (client.user) {
    described.user = *client.user;
  }
  described.token = client.token;
  if (client.process) {
    described.process = Holder{client.process->pid, client.process->started, {}};
    const std::optional<Holder> found = find_holder(machine, client.process->pid);
    if (found && found->started == client.process->started) {
      described.process = found;
      constexpr std::size_t longest = 4096;
      described.control_group = machine.read(fmt::format("/proc/{}/cgroup", client.process->pid), longest);
      if (described.control_group && described.control_group->ends_with('\n')) {
        described.control_group->pop_back();
      }
    }
  }
  return described;
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

// Runs on a device's thread, where nothing may be thrown.
template <typename Work>
std::optional<Error> attempt(Work work) {
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

control::Lease& GpuSeat::OnThread::lease(Number number) {
  const auto found = leases.find(number);
  if (found == leases.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no lease {} of this GPU", number)};
  }
  return found->second;
}

// Whose settings the GPU has, as far as its record says.
std::string GpuSeat::OnThread::holder() const {
  try {
    const std::optional<control::LeaseRecord> record = ledger.read(parts.gpu.gpu->identity().uuid);
    return record ? to_text(*record) : "no holder is on record";
  } catch (const Error& error) {
    return error.message();
  }
}

void GpuSeat::OnThread::tell_what_was_put_back() {
  const std::string uuid = parts.gpu.gpu->identity().uuid;
  if (const std::optional<control::LeaseRecord> note = ledger.note(uuid)) {
    // A guardian also puts back what a driver that hangs keeps its living holder from putting back.
    const std::optional<Holder> now = find_holder(ledger.machine(), note->holder.pid);
    const bool lives = now && now->started == note->holder.started;
    log::warning(fmt::format("{} was put back to {} because {} {}", note->gpu_name, to_text(note->found),
                             to_text(*note), lives ? "did not do so in time" : "had ended without doing so"));
    parts.audited->note(*note);
    ledger.drop_note(uuid);
  }
}

GpuSeat::GpuSeat(Loop& loop, control::LeaseBook& book, const control::Ledger& ledger, Parts parts,
                 DeviceThread::Bounds bounds)
    : name_{parts.gpu.number.value_or(0), parts.gpu.gpu->identity().uuid},
      on_thread_{std::make_shared<OnThread>(OnThread{std::move(parts), book, ledger, loop.clock(), {}})},
      thread_{loop, fmt::format("set-gpu{}", name_.number), bounds} {
}

template <typename Result>
void GpuSeat::ask(Question<Result> question) {
  const auto result = std::make_shared<Result>();
  thread_.ask({.work =
                   [on = on_thread_, result, work = std::move(question.work)] {
                     const auto inside = on->parts.gate->enter();
                     work(*on, *result);
                   },
               .ended =
                   [result, done = std::move(question.done), settled = std::move(question.settled),
                    was_late = false](End end) mutable {
                     if (was_late) {
                       if (settled) {
                         settled(std::move(*result));
                       }
                       return;
                     }
                     was_late = end == End::late;
                     // The call under way will still write its result.
                     done(end, end == End::done ? std::move(*result) : Result{});
                   },
               .is_wanted = std::move(question.wanted),
               .is_owed = question.is_owed});
}

void GpuSeat::take(Number lease, Seconds term, const Client& client, Wanted wanted,
                   std::function<void(End, Taken)> done) {
  ask<Taken>(
      {.work =
           [lease, term, client](OnThread& on, Taken& taken) {
             taken.client = described(client, on.ledger.machine());
             taken.error = attempt([&] {
               on.parts.audited->begin(
                   {.why = "put back: left by a dead holder", .who = on.holder(), .lease = 0, .is_putting_back = true});
               on.leases.emplace(lease, on.book.acquire(on.parts.gpu.gpu->identity().uuid, term,
                                                        {.client = taken.client, .patience = patience_with_others}));
               on.tell_what_was_put_back();
               taken.found = on.parts.gpu.gpu->power_limits().current;
             });
           },
       .wanted = std::move(wanted),
       .done = std::move(done),
       .settled = {}});
}

void GpuSeat::set(Number lease, const Setting& setting, const std::string& who, Wanted wanted,
                  std::function<void(End, SettingResult)> done, std::function<void(SettingResult)> settled) {
  ask<SettingResult>(
      {.work =
           [lease, setting, who](OnThread& on, SettingResult& result) {
             on.parts.audited->begin({.why = "set", .who = who, .lease = lease});
             result.error = attempt([&] { apply(on.lease(lease), setting, result); });
             // A slow driver and an expired lease are both timeouts; an expired lease gives the same message again.
             static_cast<void>(attempt([&] {
               result.is_over = result.error && result.error->kind() == ErrorKind::timeout &&
                                on.lease(lease).overruled() == result.error->message();
             }));
             // To ask a GPU for what it does not support is the client's mistake.
             if (result.error && on.parts.audited->failed_by() == Reason::unsupported) {
               result.error = Error{ErrorKind::invalid_argument, result.error->message(), result.error->advice()};
             }
           },
       .wanted = std::move(wanted),
       .done = std::move(done),
       .settled = std::move(settled)});
}

void GpuSeat::renew(Number lease, std::function<void(End, std::optional<Error>)> done) {
  ask<std::optional<Error>>(
      {.work = [lease](OnThread& on,
                       std::optional<Error>& error) { error = attempt([&] { on.lease(lease).renew(); }); },
       .wanted = {},
       .done = std::move(done),
       .settled = {}});
}

void GpuSeat::restore(Number lease, const std::string& who, Wanted wanted,
                      std::function<void(End, std::optional<Error>)> done) {
  ask<std::optional<Error>>(
      {.work =
           [lease, who](OnThread& on, std::optional<Error>& error) {
             on.parts.audited->begin(
                 {.why = "put back: asked for", .who = who, .lease = lease, .is_putting_back = true});
             error = attempt([&] { on.lease(lease).restore(); });
           },
       .wanted = std::move(wanted),
       .done = std::move(done),
       .settled = {}});
}

void GpuSeat::release(Number lease, const std::string& why, std::function<void(std::optional<Error>)> done) {
  ask<std::optional<Error>>(
      {.work =
           [lease, why](OnThread& on, std::optional<Error>& error) {
             const auto found = on.leases.find(lease);
             if (found != on.leases.end()) {
               on.parts.audited->begin({.why = fmt::format("put back: {}", why),
                                        .who = on.holder(),
                                        .lease = lease,
                                        .is_putting_back = true});
               error = attempt([&] { found->second.release(); });
               on.leases.erase(found);
               static_cast<void>(attempt([&] { on.tell_what_was_put_back(); }));
             }
           },
       .wanted = {},
       .done = [done = std::move(done)](End /*end*/, std::optional<Error> error) { done(std::move(error)); },
       .settled = {},
       .is_owed = true});
}

void GpuSeat::put_back_what_was_left(std::function<void(std::optional<std::string>)> done) {
  ask<std::optional<std::string>>(
      {.work =
           [](OnThread& on, std::optional<std::string>& failure) {
             on.parts.audited->begin(
                 {.why = "put back: left by a dead holder", .who = on.holder(), .lease = 0, .is_putting_back = true});
             const std::optional<Error> error = attempt([&] {
               for (const control::Restoration& one : control::restore_abandoned(
                        on.ledger, std::span{&on.parts.gpu, 1}, on.clock, on.parts.gpu.gpu->identity().uuid)) {
                 if (one.result == control::Restoration::Result::failed) {
                   failure = fmt::format("{} is not put back: {}", one.name, one.why);
                 } else if (one.result == control::Restoration::Result::restored && !one.claim->found.empty() &&
                            !one.claim->client) {
                   log::warning(fmt::format("{} was put back to {}, because {} had ended without doing so", one.name,
                                            to_text(one.claim->found), to_text(*one.claim)));
                 }
               }
               on.tell_what_was_put_back();
             });
             failure = error ? std::optional<std::string>{error->what()} : failure;
           },
       .wanted = {},
       .done = [done = std::move(done)](End /*end*/, std::optional<std::string> failure) { done(std::move(failure)); },
       .settled = {},
       .is_owed = true});
}

void GpuSeat::ask_whether_overruled(Number lease, Wanted wanted, std::function<void(End, std::string)> done) {
  ask<std::string>({.work =
                        [lease](OnThread& on, std::string& why) {
                          const std::optional<Error> error = attempt([&] { why = on.lease(lease).overruled(); });
                          why = error ? error->message() : why;
                        },
                    .wanted = std::move(wanted),
                    .done = std::move(done),
                    .settled = {}});
}

std::string gpu_name(const GpuSeat& seat) {
  return fmt::format("GPU {}", seat.name().number);
}

}  // namespace zeus::daemon
