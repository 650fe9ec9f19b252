// How leases begin and end, and the clients that wait for them. lease_desk_settings.cpp has the settings under leases,
// lease_desk_borrowing.cpp the borrowing.

#include "daemon/lease_desk.hpp"

#include "base/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using protocol::Status;

namespace {

constexpr Seconds look_again{0.5};  // at a GPU that another program has leased
constexpr std::size_t most_leases = 4096;
constexpr std::ptrdiff_t most_leases_of_a_user = 1024;

}  // namespace

LeaseDesk::LeaseDesk(Loop& loop, std::vector<GpuSeat*> seats, Policy policy, Ways ways)
    : loop_{loop}, seats_{std::move(seats)}, policy_{std::move(policy)}, ways_{std::move(ways)} {
}

std::optional<Refused> LeaseDesk::refusal_of_client(const Client& client, const std::set<int>& gpus) const {
  if (closed_) {
    return Refused{Status::stuck, "zeusd is stopping"};
  }
  if (!key_of(client)) {
    return Refused{Status::forbidden, "the kernel does not say which process asks, so it can hold no lease"};
  }
  for (const int gpu : gpus) {
    Verdict verdict;
    for (const Action action : control_actions) {
      verdict = decide(policy_, client.asker(), {.action = action, .gpu = seat_of(gpu).name()});
      if (verdict.allowed) {
        break;
      }
    }
    if (!verdict.allowed) {
      return Refused{Status::forbidden, fmt::format("the policy of this node lets you set nothing on GPU {}", gpu)};
    }
  }
  return std::nullopt;
}

std::optional<Seconds> LeaseDesk::longest_of(const Client& client, const std::set<int>& gpus) const {
  std::optional<Seconds> longest;
  for (const int gpu : gpus) {
    std::optional<Seconds> of_this{Seconds{0}};
    for (const Action action : control_actions) {
      const Verdict verdict = decide(policy_, client.asker(), {.action = action, .gpu = seat_of(gpu).name()});
      if (verdict.allowed && of_this) {
        of_this = verdict.longest_lease ? std::optional{std::max(*of_this, *verdict.longest_lease)} : std::nullopt;
      }
    }
    if (of_this) {
      longest = longest ? std::min(*longest, *of_this) : *of_this;
    }
  }
  return longest;
}

LeaseDesk::Number LeaseDesk::find(const Client& client, std::string_view id) const {
  for (const auto& [number, entry] : entries_) {
    if (entry.view.id == id && entry.phase == Phase::held && key_of(entry.view.client) == key_of(client)) {
      return number;
    }
  }
  return 0;
}

LeaseDesk::Number LeaseDesk::number_of(std::string_view id) const {
  const auto found = std::ranges::find_if(entries_, [&](const auto& one) { return one.second.view.id == id; });
  return found != entries_.end() ? found->first : 0;
}

LeaseDesk::Number LeaseDesk::implicit_of(const ClientKey& key, int gpu) const {
  for (const auto& [number, entry] : entries_) {
    if (entry.view.is_implicit && entry.phase != Phase::ending && entry.on.contains(gpu) &&
        key_of(entry.view.client) == key) {
      return number;
    }
  }
  return 0;
}

void LeaseDesk::take(Taking taking, std::function<void(Taken)> done) {
  const Instant now = loop_.clock().now();
  const std::optional<Instant> until =
      taking.wait > Seconds{0} ? std::optional{now + std::min(taking.wait, policy_.longest_wait)} : std::nullopt;
  if (is_waited_for(taking) && !refusal_of_client(taking.client, taking.gpus)) {
    wait_or(
        std::move(taking), done,
        {.lease = {}, .refused = Refused{Status::conflict, "another client has waited for it longer"}, .holder = {}},
        until, now);
  } else {
    try_to_take(std::move(taking), std::move(done), until);
  }
}

// One user leaves half of the queue to others.
bool LeaseDesk::is_half_full_of(const Client& client) const {
  const auto own =
      std::ranges::count_if(queue_, [&](const Waiting& one) { return is_same_user(one.taking.client, client); });
  return own > 0 && 2 * static_cast<std::size_t>(own) >= policy_.most_waiting;
}

// Whether another client already waits for one of these GPUs. The client's own GPUs are not waited for at its expense.
bool LeaseDesk::is_waited_for(const Taking& taking) const {
  const std::optional<ClientKey> key = key_of(taking.client);
  const auto is_its = [&](const auto& one) {
    return share_one(one.second.on, taking.gpus) &&
           (key_of(one.second.view.client) == key || lends_to(one.second, taking.client));
  };
  return std::ranges::none_of(entries_, is_its) && std::ranges::any_of(queue_, [&](const Waiting& one) {
           return share_one(one.taking.gpus, taking.gpus) && key_of(one.taking.client) != key &&
                  (!one.taking.wanted || one.taking.wanted());
         });
}

void LeaseDesk::wait_or(Taking taking, const std::function<void(Taken)>& done, Taken otherwise,
                        std::optional<Instant> until, Instant retry) {
  const Instant now = loop_.clock().now();
  if (!until || now >= *until) {
    done(std::move(otherwise));
  } else if (queue_.size() >= policy_.most_waiting || is_half_full_of(taking.client)) {
    done({.lease = {},
          .refused = Refused{Status::too_many, "too many wait for a GPU of this node already"},
          .holder = std::move(otherwise.holder)});
  } else {
    queue_.push_back({std::move(taking), done, *until, retry});
    loop_.wake_by(retry > now ? std::min(*until, retry) : *until);
  }
}

void LeaseDesk::try_to_take(Taking taking, std::function<void(Taken)> done, std::optional<Instant> until) {
  // The policy may have changed while the client waited.
  if (const std::optional<Refused> refused = refusal_of_client(taking.client, taking.gpus)) {
    done({.lease = {}, .refused = refused, .holder = {}});
    return;
  }
  const Instant now = loop_.clock().now();
  if (const Number other = in_the_way(taking.client, taking.gpus); other != 0) {
    const LeaseView view = view_of(entries_.at(other), terms());
    Taken conflict{
        .lease = {},
        .refused = Refused{Status::conflict,
                           fmt::format("GPU {} is leased by {}", fmt::join(view.gpus, ", "), to_text(view.described))},
        .holder = view};
    if (!until && view.is_ending) {
      until = now + patience_with_ends;
    }
    wait_or(std::move(taking), done, std::move(conflict), until, now);
    return;
  }
  Taking again = taking;
  begin(std::move(taking), [this, again = std::move(again), done = std::move(done), until](
                               Number number, const std::optional<Refused>& refused, bool conflict) mutable {
    if (!refused) {
      done({.lease = view_of(entries_.at(number), terms()), .refused = {}, .holder = {}});
    } else if (conflict) {
      wait_or(std::move(again), done, {.lease = {}, .refused = refused, .holder = {}}, until,
              loop_.clock().now() + look_again);
    } else {
      done({.lease = {}, .refused = refused, .holder = {}});
    }
  });
}

std::optional<Refused> LeaseDesk::refusal_of_another(const Client& client) const {
  if (entries_.size() >= most_leases) {
    return Refused{Status::too_many, "this node has too many leases"};
  }
  const auto is_same_users = [&](const auto& one) { return is_same_user(one.second.view.client, client); };
  if (std::ranges::count_if(entries_, is_same_users) >= most_leases_of_a_user) {
    return Refused{Status::too_many, "you hold too many leases of this node"};
  }
  return std::nullopt;
}

// A client that takes a GPU again before its lease ends has held it all the time.
Instant LeaseDesk::held_since(const Taking& taking, Instant now) const {
  Instant since = now;
  for (const auto& [number, held] : entries_) {
    if (share_one(held.on, taking.gpus) && key_of(held.view.client) == key_of(taking.client)) {
      since = std::min(since, held.counts_from);
    }
  }
  return since;
}

void LeaseDesk::begin(Taking taking, std::function<void(Number, std::optional<Refused>, bool)> done) {
  if (const std::optional<Refused> refused = refusal_of_another(taking.client)) {
    done(0, refused, false);
    return;
  }
  const Number number = enter(taking);
  const auto progress = std::make_shared<Progress>(Progress{taking.gpus.size(), std::move(done)});
  const auto is_wanted = [this, number, wanted = std::move(taking.wanted)] {
    const auto found = entries_.find(number);
    return found != entries_.end() && found->second.phase == Phase::taking && (!wanted || wanted());
  };
  for (const int gpu : taking.gpus) {
    const auto still = entries_.find(number);
    if (still == entries_.end() || still->second.phase != Phase::taking) {
      return;
    }
    seat_of(gpu).take(number, taking.term, taking.client, is_wanted,
                      [this, number, gpu, progress](GpuSeat::End end, const GpuSeat::Taken& taken) {
                        seat_answered(number, gpu, end, taken, progress);
                      });
  }
  const auto found = entries_.find(number);
  if (found == entries_.end() || found->second.phase == Phase::ending) {
    return;
  }
  if (taking.client.process && !(taking.is_implicit && policy_.implicit == ImplicitLease::keep)) {
    found->second.end_of_process = loop_.when_readable(taking.client.process->end->get(),
                                                       [this, number] { end(number, "its process has ended", {}); });
  }
  if (taking.is_implicit) {
    found->second.next_renewal = found->second.view.since + taking.term / 3;
    loop_.wake_by(*found->second.next_renewal);
  }
}

// With no seat yet.
LeaseDesk::Number LeaseDesk::enter(const Taking& taking) {
  const Number number = next_++;
  const Instant now = loop_.clock().now();
  Entry& entry = entries_[number];
  entry.view = {.id = ways_.draw(),
                .client = taking.client,
                .described = {},
                .is_implicit = taking.is_implicit,
                .is_ending = false,
                .gpus = {taking.gpus.begin(), taking.gpus.end()},
                .since = now,
                .term = taking.term,
                .ends = now + taking.term,
                .longest = {},
                .asked = {},
                .found = {}};
  entry.counts_from = held_since(taking, now);
  if (const std::optional<Seconds> longest = longest_of(taking.client, taking.gpus)) {
    entry.view.longest = entry.counts_from + *longest;
  }
  if (taking.is_implicit && taking.client.token && !taking.client.process) {
    entry.last_request = now;
  }
  entry.on = taking.gpus;
  entry.lends = taking.lends;
  for (const auto& [other, beneath] : entries_) {
    if (share_one(beneath.on, taking.gpus) && lends_to(beneath, taking.client)) {
      entry.lender = key_of(beneath.view.client);
    }
  }
  return number;
}

void LeaseDesk::seat_answered(Number number, int gpu, GpuSeat::End end, const GpuSeat::Taken& taken,
                              const std::shared_ptr<Progress>& progress) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  if (end != GpuSeat::End::done && end != GpuSeat::End::late) {
    entry.on.erase(gpu);
  }
  if (entry.phase != Phase::taking) {
    if (entry.phase == Phase::ending && entry.on.empty()) {
      over(number);
    }
    return;
  }
  if (end != GpuSeat::End::done || taken.error) {
    fail(number, gpu, end, taken.error, progress);
    return;
  }
  entry.view.described = taken.client;
  if (taken.found) {
    entry.view.found[gpu] = *taken.found;
  }
  if (--progress->seats_left == 0) {
    hold(number, gpu, *progress);
  }
}

void LeaseDesk::hold(Number number, int gpu, const Progress& progress) {
  Entry& entry = entries_.at(number);
  entry.phase = Phase::held;
  entry.view.ends = loop_.clock().now() + entry.view.term;
  loop_.wake_by(entry.view.ends);
  if (entry.view.longest) {
    loop_.wake_by(*entry.view.longest);
  }
  const auto others = std::exchange(entry.when_taken, {});
  progress.done(number, std::nullopt, false);
  for (const auto& tell : others) {
    tell(entries_.contains(number) ? std::nullopt : refusal_of(GpuSeat::End::abandoned, gpu_name(seat_of(gpu))));
  }
}

// The lease ends when the call under way does; if that is late, the client does not wait for it.
void LeaseDesk::fail(Number number, int gpu, GpuSeat::End end, const std::optional<Error>& error,
                     const std::shared_ptr<Progress>& progress) {
  const bool conflict = end == GpuSeat::End::done && error->kind() == ErrorKind::conflict;
  const std::optional<Refused> refusal = refusal_of(end, gpu_name(seat_of(gpu)), error);
  const auto tell_all = [progress, number, refusal, conflict,
                         others = std::exchange(entries_.at(number).when_taken, {})] {
    progress->done(number, refusal, conflict);
    for (const auto& tell : others) {
      tell(refusal);
    }
  };
  const bool is_late = end == GpuSeat::End::late;
  this->end(number, "it could not be taken whole", is_late ? std::function<void()>{} : std::function<void()>{tell_all});
  if (is_late) {
    tell_all();
  }
}

void LeaseDesk::note_token(const Client& client) {
  const Instant now = loop_.clock().now();
  const std::optional<ClientKey> key = key_of(client);
  for (auto& [number, entry] : entries_) {
    if (key_of(entry.view.client) == key) {
      entry.view.client.bearer = client.bearer;
      if (entry.last_request) {
        entry.last_request = now;
      }
    }
  }
}

bool LeaseDesk::end(std::string_view id, const std::string& why, std::function<void()> done) {
  const Number number = number_of(id);
  if (number != 0) {
    end(number, why, std::move(done));
  }
  return number != 0;
}

void LeaseDesk::end(Number number, const std::string& why, std::function<void()> done, bool is_released) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) {
    if (done) {
      done();
    }
    return;
  }
  Entry& entry = found->second;
  if (done) {
    entry.when_over.push_back(std::move(done));
  }
  if (entry.phase == Phase::ending) {
    return;
  }
  entry.phase = Phase::ending;
  entry.view.is_ending = true;
  entry.end_of_process.reset();
  loop_.wake_by(loop_.clock().now());  // its client's other leases may now end sooner
  leave_or_end_borrowed(entry, is_released);
  if (entry.on.empty()) {
    over(number);
    return;
  }
  for (const int gpu : std::set<int>{entry.on}) {
    seat_of(gpu).release(number, why, [this, number, gpu](const std::optional<Error>& error) {
      Entry& ending = entries_.at(number);
      if (error) {
        log::warning(error->what());
        (*ending.left)[gpu] = refused(*error);
      }
      ending.on.erase(gpu);
      if (ending.on.empty()) {
        over(number);
      }
    });
  }
}

void LeaseDesk::over(Number number) {
  const auto ended = entries_.extract(number);
  for (const std::function<void()>& tell : ended.mapped().when_over) {
    tell();
  }
  look_at_queue();
}

void LeaseDesk::look_at_queue() {
  // The client that has waited longest comes first, even if only one of the GPUs it waits for is free.
  std::set<int> spoken_for;
  const Instant now = loop_.clock().now();
  std::deque<Waiting> still;
  std::deque<Waiting> all = std::exchange(queue_, {});
  std::vector<std::function<void()>> now_due;
  for (Waiting& one : all) {
    if (one.taking.wanted && !one.taking.wanted()) {
      continue;
    }
    const bool is_next = !share_one(one.taking.gpus, spoken_for);
    spoken_for.insert(one.taking.gpus.begin(), one.taking.gpus.end());
    const bool is_free = in_the_way(one.taking.client, one.taking.gpus) == 0 && now >= one.retry;
    const bool is_over = now >= one.until || refusal_of_client(one.taking.client, one.taking.gpus);
    if (is_over || (is_next && is_free)) {
      now_due.emplace_back([this, due = std::move(one)]() mutable {
        try_to_take(std::move(due.taking), std::move(due.done), due.until);
      });
    } else {
      loop_.wake_by(one.retry > now ? std::min(one.until, one.retry) : one.until);
      still.push_back(std::move(one));
    }
  }
  queue_ = std::move(still);
  for (const std::function<void()>& work : now_due) {
    work();
  }
}

void LeaseDesk::set_policy(Policy policy, const std::function<bool(const Client&)>& is_believed) {
  policy_ = std::move(policy);
  std::vector<std::pair<Number, std::string_view>> not_allowed;
  const Instant now = loop_.clock().now();
  for (auto& [number, entry] : entries_) {
    const std::set<int> gpus{entry.view.gpus.begin(), entry.view.gpus.end()};
    const std::optional<Seconds> longest = longest_of(entry.view.client, gpus);
    entry.view.longest = longest ? std::optional{entry.counts_from + *longest} : std::nullopt;
    bool allowed = !refusal_of_client(entry.view.client, gpus);
    for (const auto& [gpu, setting] : entry.standing) {
      allowed = allowed && decide(policy_, entry.view.client.asker(), asked_for(setting, seat_of(gpu).name())).allowed;
    }
    if (!allowed) {
      not_allowed.emplace_back(number, "the policy no longer allows it");
    } else if (!is_believed(entry.view.client)) {
      not_allowed.emplace_back(number, "its token is no longer believed");
    }
  }
  std::vector<std::function<void(Taken)>> turned_away;
  std::erase_if(queue_, [&](Waiting& one) {
    const bool is_wrong = !is_believed(one.taking.client);
    if (is_wrong) {
      turned_away.push_back(std::move(one.done));
    }
    return is_wrong;
  });
  for (const auto& tell : turned_away) {
    tell({.lease = {}, .refused = Refused{Status::unauthorized, "this token is no longer believed"}, .holder = {}});
  }
  for (const auto& [number, why] : not_allowed) {
    end(number, std::string{why}, {});
  }
  loop_.wake_by(now);
}

void LeaseDesk::close(std::function<void()> done) {
  closed_ = true;
  for (const Waiting& one : std::exchange(queue_, {})) {
    one.done({.lease = {}, .refused = Refused{Status::stuck, "zeusd is stopping"}, .holder = {}});
  }
  std::vector<Number> all;
  for (const auto& [number, entry] : entries_) {
    all.push_back(number);
  }
  const auto gathered =
      std::make_shared<Gathered>(all.size() + 1, [done = std::move(done)](const Refusals&) { done(); });
  for (const Number number : all) {
    end(number, "zeusd stops", [gathered] { gathered->add(0, std::nullopt); });
  }
  gathered->add(0, std::nullopt);
}

std::vector<LeaseView> LeaseDesk::leases() const {
  const Terms of_clients = terms();
  std::vector<LeaseView> all;
  for (const auto& [number, entry] : entries_) {
    all.push_back(view_of(entry, of_clients));
  }
  return all;
}

std::optional<LeaseView> LeaseDesk::holder_of(int gpu) const {
  for (const auto& [number, entry] : entries_) {
    if (entry.on.contains(gpu)) {
      return view_of(entry, terms());
    }
  }
  return std::nullopt;
}

const std::deque<Outcome>& LeaseDesk::outcomes(int gpu) const {
  static const std::deque<Outcome> none;
  const auto found = outcomes_.find(gpu);
  return found != outcomes_.end() ? found->second : none;
}

void LeaseDesk::tick(Instant now) {
  const Terms of_clients = terms();
  std::vector<std::pair<Number, std::string>> over;
  for (auto& [number, entry] : entries_) {
    if (entry.phase != Phase::held) {
      continue;
    }
    if (entry.view.longest && now >= *entry.view.longest) {
      over.emplace_back(number, "it has lasted as long as the policy allows");
      continue;
    }
    if (entry.last_request && now >= *entry.last_request + token_rests) {
      over.emplace_back(number, "its token has not asked for anything for an hour");
      continue;
    }
    if (entry.next_renewal && now >= *entry.next_renewal) {
      renew_own(number, entry, now);
    }
    const Instant end = lasts_until(entry, of_clients);
    if (now >= end) {
      over.emplace_back(number, "its holder did not renew it within its term");
      continue;
    }
    loop_.wake_by(entry.next_renewal.value_or(end));
    if (entry.view.longest) {
      loop_.wake_by(*entry.view.longest);
    }
  }
  for (const auto& [number, why] : over) {
    end(number, why, {});
  }
  look_at_leaving(now);
  look_at_queue();
}

}  // namespace zeus::daemon
