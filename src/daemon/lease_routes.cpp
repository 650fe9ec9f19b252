// Our own routes: leases, settings under them, and the results of settings.

#include "daemon/api.hpp"
#include "protocol/device_leases.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace zeus::daemon {

using protocol::Ids;
using protocol::Scope;
using protocol::Status;

namespace {

protocol::GpuSettings settings_of(const Setting& setting) {
  protocol::GpuSettings told;
  if (const auto* const limit = std::get_if<SetPowerLimit>(&setting)) {
    told.power_limit = limit->limit;
  } else if (const auto* const lock = std::get_if<LockClocks>(&setting)) {
    told.clocks = {{lock->domain, lock->range}};
  } else if (std::holds_alternative<UnlockClocks>(setting)) {
    told.clocks.emplace();
  } else {
    told.persistence_mode = std::get<SetPersistence>(setting).enabled;
  }
  return told;
}

// The result, as it was read back.
protocol::GpuSettings enforced_of(const Setting& asked, const SettingResult& result) {
  protocol::GpuSettings enforced;
  enforced.power_limit = result.enforced.optional();
  enforced.persistence_mode = result.persistence.optional();
  const auto* const lock = std::get_if<LockClocks>(&asked);
  if (lock != nullptr && result.locked_to && *result.locked_to) {
    enforced.clocks = {{lock->domain, **result.locked_to}};
  }
  return enforced;
}

std::string_view word_of(const Setting& setting) {
  if (std::holds_alternative<SetPowerLimit>(setting)) {
    return "set_power_limit";
  }
  if (std::holds_alternative<LockClocks>(setting)) {
    return "lock_clocks";
  }
  return std::holds_alternative<UnlockClocks>(setting) ? "unlock_clocks" : "set_persistence_mode";
}

protocol::LeaseHolder holder_of(const control::LeaseClient& client) {
  protocol::LeaseHolder holder;
  if (client.user) {
    holder.uid = static_cast<std::uint32_t>(*client.user);
  }
  if (client.process) {
    holder.pid = client.process->pid;
    holder.command = client.process->command;
  }
  holder.cgroup = client.control_group;
  holder.token = client.token;
  return holder;
}

class Teller {
 public:
  explicit Teller(Node& node) : node_{node}, now_{node.loop.clock().now()}, wall_{node.loop.clock().wall()} {}

  [[nodiscard]] std::vector<protocol::LeasedGpu> gpus(const LeaseView& lease) const {
    std::vector<protocol::LeasedGpu> all;
    for (const int gpu : lease.gpus) {
      protocol::LeasedGpu told{static_cast<std::uint32_t>(gpu), node_.gpu(gpu).identity.uuid, {}, {}};
      if (const auto asked = lease.asked.find(gpu); asked != lease.asked.end()) {
        told.asked = settings_of(asked->second);
        if (const auto result = lease.in_force.find(gpu); result != lease.in_force.end()) {
          told.in_force = enforced_of(asked->second, result->second);
        }
      }
      all.push_back(std::move(told));
    }
    return all;
  }

  [[nodiscard]] protocol::LeaseAnswer answer(const LeaseView& lease) const {
    protocol::LeaseAnswer told{lease.id, gpus(lease), lease.term, left_until(lease.ends), {}};
    if (lease.longest) {
      told.longest = left_until(*lease.longest);
    }
    return told;
  }

  [[nodiscard]] protocol::ListedLease listed(const LeaseView& lease) const {
    protocol::ListedLease told{lease.id,
                               lease.is_implicit ? protocol::LeaseKind::implicit : protocol::LeaseKind::explicit_lease,
                               holder_of(lease.described),
                               gpus(lease),
                               milliseconds_of(lease.since),
                               now_ - lease.since,
                               {},
                               {}};
    if (!lease.is_implicit) {
      told.term = lease.term;
      told.expires_in = left_until(lease.ends);
    }
    return told;
  }

  // The name of a lease is a key to it, and is given to its client alone.
  [[nodiscard]] protocol::SettingOutcome outcome(const Outcome& outcome, const Client& asker) const {
    protocol::SettingOutcome told{.number = outcome.sequence,
                                  .gpu_id = static_cast<std::uint32_t>(outcome.gpu),
                                  .request = std::string{word_of(outcome.asked)},
                                  .lease = {},
                                  .asked = settings_of(outcome.asked),
                                  .enforced = {},
                                  .error = {},
                                  .status = {},
                                  .when_ms = {}};
    if (!outcome.lease.empty() && outcome.client == key_of(asker)) {
      told.lease = outcome.lease;
    }
    if (!outcome.is_known) {
      return told;
    }
    told.when_ms = milliseconds_of(outcome.at);
    if (outcome.result.error) {
      told.error = outcome.result.error->what();
      told.status = static_cast<std::uint16_t>(protocol::status_of(outcome.result.error->kind()));
      return told;
    }
    told.status = static_cast<std::uint16_t>(Status::ok);
    told.enforced = enforced_of(outcome.asked, outcome.result);
    return told;
  }

 private:
  [[nodiscard]] Seconds left_until(Instant time) const { return std::max(time - now_, Seconds{0}); }
  [[nodiscard]] std::uint64_t milliseconds_of(Instant time) const {
    const double then = static_cast<double>(wall_.microseconds_since_epoch) / 1000 - (now_ - time).value() * 1000;
    return static_cast<std::uint64_t>(std::max(0.0, then));
  }

  Node& node_;
  Instant now_;
  WallTime wall_;
};

void refuse(const SharedCall& call, const LeaseDesk::Taken& taken) {
  if (!taken.holder) {
    call->refuse(taken.refused->status, taken.refused->text);
    return;
  }
  const protocol::Conflict conflict{taken.refused->text, static_cast<std::uint32_t>(taken.holder->gpus.front()),
                                    holder_of(taken.holder->described)};
  call->refuse(protocol::Refusal{.status = taken.refused->status, .body = records::json_line(conflict)});
}

void take_lease(Node& node, const SharedCall& call) {
  Ids ids;
  Seconds term;
  std::optional<Seconds> wait;
  std::optional<bool> lends;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}, {"term_s", term}, {"wait_s", wait}, {"lends", lends}}) ||
      !choose_gpus(node, call, ids, ErrorForm::json, gpus)) {
    return;
  }
  if (term < LeaseDesk::shortest_term || term > LeaseDesk::longest_term) {
    call->refuse(Status::bad_request, fmt::format("a lease lasts from {:.0f} to {:.0f} s without being renewed",
                                                  LeaseDesk::shortest_term.value(), LeaseDesk::longest_term.value()));
    return;
  }
  std::function<bool()> wanted = call->wanted();
  node.desk->take({.client = client_of(*call),
                   .gpus = gpus,
                   .term = term,
                   .wait = wait.value_or(Seconds{0}),
                   .wanted = std::move(wanted),
                   .lends = lends.value_or(false)},
                  [&node, call](const LeaseDesk::Taken& taken) {
                    if (taken.lease) {
                      call->answer(records::json_line(Teller{node}.answer(*taken.lease)));
                    } else {
                      refuse(call, taken);
                    }
                  });
}

void list_leases(Node& node, const SharedCall& call) {
  if (!call->read_query({})) {
    return;
  }
  const Teller teller{node};
  protocol::LeaseList list;
  const std::optional<ClientKey> key = key_of(client_of(*call));
  for (const LeaseView& lease : node.desk->leases()) {
    protocol::ListedLease told = teller.listed(lease);
    if (key_of(lease.client) != key) {
      told.id.clear();  // it is a key to the lease, which belongs to another client
    }
    list.leases.push_back(std::move(told));
  }
  call->answer(records::json_line(list));
}

void renew_lease(Node& node, const SharedCall& call) {
  std::string lease;
  if (call->read_query({{"lease", lease}})) {
    node.desk->renew(client_of(*call), lease, [&node, call](const LeaseDesk::Taken& taken) {
      if (taken.lease) {
        call->answer(records::json_line(Teller{node}.answer(*taken.lease)));
      } else {
        refuse(call, taken);
      }
    });
  }
}

void set_leased(Node& node, const SharedCall& call, const std::string& lease, const Ids& ids, const Setting& setting) {
  std::set<int> gpus;
  if (!choose_gpus(node, call, ids, ErrorForm::json, gpus)) {
    return;
  }
  node.desk->set(client_of(*call), lease, gpus, setting, call->wanted(),
                 [&node, call](const Refusals& refusals, const std::vector<Outcome>& outcomes) {
                   if (!refusals.empty()) {
                     refuse(*call, refusals);
                     return;
                   }
                   protocol::Outcomes told;
                   for (const Outcome& outcome : outcomes) {
                     told.outcomes.push_back(Teller{node}.outcome(outcome, client_of(*call)));
                   }
                   call->answer(records::json_line(told));
                 });
}

void set_leased_power_limit(Node& node, const SharedCall& call) {
  std::string lease;
  Ids gpus;
  std::uint32_t limit = 0;
  if (call->read_query({{"lease", lease}, {"gpu_ids", gpus}, {"power_limit_mw", limit}})) {
    set_leased(node, call, lease, gpus, SetPowerLimit{Watts{static_cast<double>(limit) / 1000.0}});
  }
}

// Refuses the request and returns nothing if the word is not a domain.
std::optional<ClockDomain> domain_of(const SharedCall& call, const std::string& word) {
  const std::optional<ClockDomain> domain = field::named<ClockDomain>(word);
  if (!domain) {
    call->refuse(Status::bad_request, "'domain' is one of graphics, sm and memory");
  }
  return domain;
}

void lock_leased_clocks(Node& node, const SharedCall& call) {
  std::string lease;
  std::string word;
  Ids gpus;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (!call->read_query(
          {{"lease", lease}, {"gpu_ids", gpus}, {"domain", word}, {"min_clock_mhz", least}, {"max_clock_mhz", most}})) {
    return;
  }
  if (const std::optional<ClockDomain> domain = domain_of(call, word)) {
    set_leased(node, call, lease, gpus,
               LockClocks{*domain, {Megahertz{static_cast<double>(least)}, Megahertz{static_cast<double>(most)}}});
  }
}

void unlock_leased_clocks(Node& node, const SharedCall& call) {
  std::string lease;
  std::optional<std::string> word;
  Ids gpus;
  if (!call->read_query({{"lease", lease}, {"gpu_ids", gpus}, {"domain", word}})) {
    return;
  }
  if (!word) {
    set_leased(node, call, lease, gpus, UnlockClocks{});
  } else if (const std::optional<ClockDomain> domain = domain_of(call, *word)) {
    set_leased(node, call, lease, gpus, UnlockClocks{domain});
  }
}

void set_leased_persistence_mode(Node& node, const SharedCall& call) {
  std::string lease;
  Ids gpus;
  bool enabled = false;
  if (call->read_query({{"lease", lease}, {"gpu_ids", gpus}, {"enabled", enabled}})) {
    set_leased(node, call, lease, gpus, SetPersistence{enabled});
  }
}

void restore_lease(Node& node, const SharedCall& call) {
  std::string lease;
  if (call->read_query({{"lease", lease}})) {
    node.desk->restore(client_of(*call), lease, call->wanted(),
                       [call](const Refusals& refusals) { done_or_refuse(*call, refusals); });
  }
}

void release_lease(Node& node, const SharedCall& call) {
  std::string lease;
  if (call->read_query({{"lease", lease}})) {
    node.desk->release(client_of(*call), lease, [call](const Refusals& refusals) { done_or_refuse(*call, refusals); });
  }
}

void ask_whether_overruled(Node& node, const SharedCall& call) {
  std::string lease;
  if (call->read_query({{"lease", lease}})) {
    node.desk->ask_whether_overruled(client_of(*call), lease, call->wanted(),
                                     [call](const std::optional<Refused>& refused, const std::string& why) {
                                       if (refused) {
                                         call->refuse(refused->status, refused->text);
                                       } else {
                                         call->answer(records::json_line(protocol::Overruled{why}));
                                       }
                                     });
  }
}

void outcomes(Node& node, const SharedCall& call) {
  std::optional<Ids> ids;
  std::optional<std::uint64_t> after;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}, {"after", after}}) || !choose_gpus(node, call, ids, ErrorForm::json, gpus) ||
      !may_read(node, call, gpus)) {
    return;
  }
  const Teller teller{node};
  protocol::Outcomes told;
  for (const int gpu : gpus) {
    for (const Outcome& outcome : node.desk->outcomes(gpu)) {
      if (outcome.sequence > after.value_or(0)) {
        told.outcomes.push_back(teller.outcome(outcome, client_of(*call)));
      }
    }
  }
  std::ranges::sort(told.outcomes, {}, &protocol::SettingOutcome::number);
  call->answer(records::json_line(told));
}

}  // namespace

void list_all_leases(Node& node, const SharedCall& call) {
  const Teller teller{node};
  protocol::LeaseList list;
  for (const LeaseView& lease : node.desk->leases()) {
    list.leases.push_back(teller.listed(lease));
  }
  call->answer(records::json_line(list));
}

std::span<const Row> lease_rows() {
  static const Row rows[]{
      {"GET", "/v1/leases", Scope::gpu_control, list_leases},
      {"POST", "/v1/leases/take", Scope::gpu_control, take_lease},
      {"POST", "/v1/leases/renew", Scope::gpu_control, renew_lease},
      {"POST", "/v1/leases/set_power_limit", Scope::gpu_control, set_leased_power_limit},
      {"POST", "/v1/leases/lock_clocks", Scope::gpu_control, lock_leased_clocks},
      {"POST", "/v1/leases/unlock_clocks", Scope::gpu_control, unlock_leased_clocks},
      {"POST", "/v1/leases/set_persistence_mode", Scope::gpu_control, set_leased_persistence_mode},
      {"POST", "/v1/leases/restore", Scope::gpu_control, restore_lease},
      {"POST", "/v1/leases/release", Scope::gpu_control, release_lease},
      {"GET", "/v1/leases/overruled", Scope::gpu_control, ask_whether_overruled},
      {"GET", "/v1/outcomes", Scope::gpu_control, outcomes},
  };
  return rows;
}

}  // namespace zeus::daemon
