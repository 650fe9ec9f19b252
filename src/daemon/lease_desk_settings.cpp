// What is done under leases: renewing, setting, withdrawing; and setters without a lease.

#include "control/lease_book.hpp"
#include "daemon/lease_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using protocol::Status;

namespace {

constexpr std::size_t most_outcomes = 64;  // of one GPU
constexpr std::size_t most_allowances = 4096;

Refused set_by(const LeaseView& borrower, int gpu) {
  return {Status::conflict,
          fmt::format("GPU {} is set by {}, which has borrowed it", gpu, to_text(borrower.described))};
}

Refused no_such_lease(std::string_view id) {
  return {Status::not_found, fmt::format("you have no lease {}", id)};
}

}  // namespace

LeaseDesk::Terms LeaseDesk::terms() const {
  Terms all;
  for (const auto& [number, entry] : entries_) {
    const std::optional<ClientKey> key = key_of(entry.view.client);
    if (entry.phase != Phase::held || entry.view.is_implicit || !key) {
      continue;
    }
    for (const int gpu : entry.on) {
      Term& term = all[{*key, gpu}];
      term.renewed = std::max(term.renewed, entry.view.ends - entry.view.term);
      term.longest = std::max(term.longest, entry.view.term);
    }
  }
  return all;
}

Instant LeaseDesk::lasts_until(const Entry& entry, const Terms& terms) {
  const std::optional<ClientKey> key = key_of(entry.view.client);
  if (entry.view.is_implicit || !key) {
    return entry.view.ends;
  }
  std::optional<Instant> first;
  for (const int gpu : entry.view.gpus) {
    const auto found = terms.find({*key, gpu});
    const Instant end = found != terms.end() ? found->second.renewed + found->second.longest : entry.view.ends;
    first = std::min(first.value_or(end), end);
  }
  return std::max(entry.view.ends, first.value_or(entry.view.ends));
}

LeaseView LeaseDesk::view_of(const Entry& entry, const Terms& terms) {
  LeaseView view = entry.view;
  view.ends = lasts_until(entry, terms);
  return view;
}

void LeaseDesk::extend(Entry& entry) {
  entry.view.ends = loop_.clock().now() + entry.view.term;
  loop_.wake_by(entry.view.ends);
}

void LeaseDesk::renew(const Client& client, std::string_view id, std::function<void(Taken)> done) {
  const Number number = find(client, id);
  if (number == 0) {
    done({.lease = {}, .refused = no_such_lease(id), .holder = {}});
    return;
  }
  Entry& entry = entries_.at(number);
  extend(entry);
  const auto gathered = std::make_shared<Gathered>(
      entry.on.size(), [this, number, name = std::string{id}, done = std::move(done)](const Refusals& refusals) {
        const auto found = entries_.find(number);
        if (!refusals.empty()) {
          done({.lease = {}, .refused = refusals.begin()->second, .holder = {}});
        } else if (found == entries_.end()) {
          done({.lease = {}, .refused = no_such_lease(name), .holder = {}});
        } else {
          done({.lease = view_of(found->second, terms()), .refused = {}, .holder = {}});
        }
      });
  for (const int gpu : std::set<int>{entry.on}) {
    GpuSeat& seat = seat_of(gpu);
    seat.renew(number, [gathered, gpu, &seat](GpuSeat::End end, const std::optional<Error>& error) {
      gathered->add(gpu, refusal_of(end, gpu_name(seat), error));
    });
  }
}

std::optional<Refused> LeaseDesk::refusal_by_policy(const Client& client, int gpu, const Setting& setting) const {
  const Verdict verdict = decide(policy_, client.asker(), asked_for(setting, seat_of(gpu).name()));
  return verdict.allowed ? std::nullopt : std::optional{Refused{Status::forbidden, verdict.why}};
}

std::optional<Refused> LeaseDesk::refusal_of_setting(const Client& client, int gpu, const Setting& setting) {
  const Verdict verdict = decide(policy_, client.asker(), asked_for(setting, seat_of(gpu).name()));
  if (!verdict.allowed) {
    return Refused{Status::forbidden, verdict.why};
  }
  if (!verdict.changes_per_second) {
    return std::nullopt;
  }
  const Instant now = loop_.clock().now();
  const double most = std::max(1.0, *verdict.changes_per_second);
  if (allowances_.size() >= most_allowances) {
    std::erase_if(allowances_, [&](const auto& one) { return now - one.second.at > Seconds{60}; });
  }
  const auto [found, is_new] = allowances_.try_emplace({*key_of(client), gpu}, Allowance{most, now});
  Allowance& allowance = found->second;
  allowance.left = std::min(most, allowance.left + (now - allowance.at).value() * *verdict.changes_per_second);
  allowance.at = now;
  if (allowance.left < 1) {
    return Refused{Status::too_many, fmt::format("the policy of this node lets you change GPU {} {:.6g} times a second",
                                                 gpu, *verdict.changes_per_second)};
  }
  allowance.left -= 1;
  return std::nullopt;
}

// The last setting of each kind stands beside those of other kinds.
void LeaseDesk::note_standing(Entry& entry, int gpu, const Setting& setting) {
  std::erase_if(entry.standing, [&](const std::pair<int, Setting>& one) {
    if (one.first != gpu) {
      return false;
    }
    const auto* const locked = std::get_if<LockClocks>(&one.second);
    if (const auto* const unlocked = std::get_if<UnlockClocks>(&setting)) {
      return locked != nullptr && (!unlocked->domain || *unlocked->domain == locked->domain);
    }
    const auto* const lock = std::get_if<LockClocks>(&setting);
    return one.second.index() == setting.index() && (lock == nullptr || lock->domain == locked->domain);
  });
  if (!std::holds_alternative<UnlockClocks>(setting)) {
    entry.standing.emplace_back(gpu, setting);
  }
}

const Outcome& LeaseDesk::note(Outcome outcome) {
  std::deque<Outcome>& kept = outcomes_[outcome.gpu];
  if (kept.size() >= most_outcomes) {
    kept.pop_front();
  }
  outcome.sequence = next_outcome_++;
  outcome.at = loop_.clock().now();
  return kept.emplace_back(std::move(outcome));
}

void LeaseDesk::set_one(Number number, int gpu, const Setting& setting, const Wanted& wanted,
                        std::function<void(std::optional<Refused>, const Outcome&)> done) {
  Entry& entry = entries_.at(number);
  const Outcome outcome = note({.gpu = gpu,
                                .who = to_text(entry.view.described),
                                .client = key_of(entry.view.client),
                                .lease = entry.view.id,
                                .asked = setting,
                                .result = {}});
  entry.view.asked.insert_or_assign(gpu, setting);
  note_standing(entry, gpu, setting);
  entry.set_by_child.erase(gpu);
  if (entry.lender) {
    for (auto& [other, beneath] : entries_) {
      if (key_of(beneath.view.client) == entry.lender && beneath.on.contains(gpu)) {
        beneath.set_by_child.insert(gpu);
      }
    }
  }
  const auto is_wanted = [this, number, wanted] {
    const auto found = entries_.find(number);
    return found != entries_.end() && found->second.phase == Phase::held && (!wanted || wanted());
  };
  const auto keep = [this, number](const Outcome& known) {
    std::deque<Outcome>& all = outcomes_[known.gpu];
    if (const auto at = std::ranges::find(all, known.sequence, &Outcome::sequence); at != all.end()) {
      *at = known;
    }
    if (const auto held = entries_.find(number); held != entries_.end() && known.is_known && !known.result.error) {
      held->second.view.in_force.insert_or_assign(known.gpu, known.result);
    }
    // The guardian has put back what this lease had set.
    if (known.result.is_over) {
      end(number, "its holder did not renew it within its term", {});
    }
  };
  GpuSeat& seat = seat_of(gpu);
  seat.set(
      number, setting, is_wanted,
      [outcome, keep, done = std::move(done), &seat](GpuSeat::End end, SettingResult result) {
        Outcome known = outcome;
        known.is_known = end != GpuSeat::End::late;
        known.result = std::move(result);
        const std::optional<Refused> why = refusal_of(end, gpu_name(seat), known.result.error);
        if (why && !known.result.error) {
          known.result.error = Error{ErrorKind::unavailable, why->text};
        }
        keep(known);
        done(why, known);
      },
      [outcome, keep](SettingResult result) {
        Outcome known = outcome;
        known.is_known = true;
        known.result = std::move(result);
        keep(known);
      });
}

void LeaseDesk::set(const Client& client, std::string_view id, const std::set<int>& gpus, const Setting& setting,
                    const Wanted& wanted, std::function<void(Refusals, std::vector<Outcome>)> done) {
  const Number number = find(client, id);
  Refusals refusals;
  for (const int gpu : gpus) {
    if (number == 0) {
      refusals[gpu] = no_such_lease(id);
    } else if (!entries_.at(number).on.contains(gpu)) {
      refusals[gpu] = {Status::not_found, fmt::format("this lease is not of GPU {}", gpu)};
    } else if (const Number other = borrower(*key_of(client), gpu); other != 0) {
      refusals[gpu] = set_by(entries_.at(other).view, gpu);
    } else if (const std::optional<Refused> no = refusal_of_setting(client, gpu, setting)) {
      refusals[gpu] = *no;
    }
  }
  if (!refusals.empty()) {
    done(std::move(refusals), {});
    return;
  }
  extend(entries_.at(number));
  const auto outcomes = std::make_shared<std::vector<Outcome>>();
  const auto gathered = std::make_shared<Gathered>(
      gpus.size(), [outcomes, done = std::move(done)](Refusals all) { done(std::move(all), std::move(*outcomes)); });
  for (const int gpu : gpus) {
    set_one(number, gpu, setting, wanted,
            [gathered, outcomes, gpu](const std::optional<Refused>& why, const Outcome& outcome) {
              outcomes->push_back(outcome);
              gathered->add(gpu, why);
            });
  }
}

void LeaseDesk::set_without_lease(const Client& client, const std::set<int>& gpus, const Setting& setting,
                                  const Wanted& wanted, std::function<void(Refusals)> done) {
  const auto gathered = std::make_shared<Gathered>(gpus.size(), std::move(done));
  for (const int gpu : gpus) {
    set_without_lease(client, gpu, setting, wanted,
                      [gathered, gpu](const std::optional<Refused>& why) { gathered->add(gpu, why); });
  }
}

void LeaseDesk::set_without_lease(const Client& client, int gpu, const Setting& setting, const Wanted& wanted,
                                  const std::function<void(std::optional<Refused>)>& answer) {
  // Also if no client waits for the answer.
  const auto done = [this, client, gpu, setting, answer](const std::optional<Refused>& why) {
    if (why) {
      note({.gpu = gpu,
            .who = to_text(client),
            .client = key_of(client),
            .lease = {},
            .asked = setting,
            .result = {.error = Error{ErrorKind::unavailable, why->text}},
            .is_known = true});
    }
    answer(why);
  };
  std::optional<Refused> no = refusal_of_client(client, {gpu});
  if (const Number other = no ? 0 : borrower(*key_of(client), gpu); other != 0) {
    no = set_by(entries_.at(other).view, gpu);
  }
  no = no ? no : refusal_of_setting(client, gpu, setting);
  if (no) {
    done(no);
    return;
  }
  const auto set = [this, gpu, setting, wanted, answer](Number number) {
    set_one(number, gpu, setting, wanted, [answer](const std::optional<Refused>& why, const Outcome&) { answer(why); });
  };
  // The policy may change before its turn comes.
  const auto refused_by_now = [this, client, gpu, setting] { return refusal_by_policy(client, gpu, setting); };
  const ClientKey key = *key_of(client);
  if (const Number held = implicit_of(key, gpu); held != 0) {
    Entry& entry = entries_.at(held);
    if (entry.phase == Phase::taking) {
      // After settings that already wait for the lease: a client's last request holds.
      entry.when_taken.push_back([set, done, held, refused_by_now](const std::optional<Refused>& why) {
        if (const std::optional<Refused> refused = why ? why : refused_by_now()) {
          done(refused);
        } else {
          set(held);
        }
      });
    } else {
      set(held);
    }
    return;
  }
  const Number other = in_the_way(client, {gpu});
  if (other != 0 && !entries_.at(other).view.is_ending && policy_.implicit == ImplicitLease::keep &&
      entries_.at(other).view.is_implicit) {
    end(other, "another client sets this GPU", {});
  }
  if (other == 0 && policy_.implicit == ImplicitLease::refuse) {
    done(Refused{Status::forbidden, "the policy of this node wants a lease before a GPU is set (/v1/leases)"});
    return;
  }
  // One lease serves all settings that wait for it, in their order.
  const auto waits_for_it = [&](const Waiting& one) {
    return one.taking.is_implicit && one.taking.gpus == std::set{gpu} && key_of(one.taking.client) == key;
  };
  if (const auto before = std::ranges::find_if(queue_, waits_for_it); before != queue_.end()) {
    before->done = [this, key, gpu, first = std::move(before->done), done, set, refused_by_now](const Taken& taken) {
      first(taken);
      if (const std::optional<Refused> refused = taken.refused ? taken.refused : refused_by_now()) {
        done(refused);
      } else if (const Number held = implicit_of(key, gpu); held != 0) {
        set(held);
      } else {
        done(Refused{Status::conflict, "this client's lease has just ended; ask again"});
      }
    };
    before->taking.wanted = [first = std::move(before->taking.wanted), wanted] {
      return !first || !wanted || first() || wanted();
    };
    return;
  }
  try_to_take(
      {.client = client,
       .gpus = {gpu},
       .term = control::LeaseBook::usual_term,
       .wait = {},
       .wanted = wanted,
       .lends = true,
       .is_implicit = true},
      [this, done, set, refused_by_now](const Taken& taken) {
        if (taken.refused) {
          done(taken.refused);
        } else if (const std::optional<Refused> refused = refused_by_now()) {
          end(taken.lease->id, refused->text, {});
          done(refused);
        } else {
          set(number_of(taken.lease->id));
        }
      },
      std::nullopt);
}

void LeaseDesk::restore(const Client& client, std::string_view id, const Wanted& wanted,
                        std::function<void(Refusals)> done) {
  const Number number = find(client, id);
  if (number == 0) {
    done({{0, no_such_lease(id)}});
    return;
  }
  Entry& entry = entries_.at(number);
  extend(entry);
  entry.view.asked.clear();
  entry.standing.clear();
  const auto gathered = std::make_shared<Gathered>(entry.on.size(), std::move(done));
  for (const int gpu : std::set<int>{entry.on}) {
    GpuSeat& seat = seat_of(gpu);
    seat.restore(number, wanted, [gathered, gpu, &seat](GpuSeat::End end, const std::optional<Error>& error) {
      gathered->add(gpu, refusal_of(end, gpu_name(seat), error));
    });
  }
}

void LeaseDesk::release(const Client& client, std::string_view id, std::function<void(Refusals)> done) {
  const Number number = find(client, id);
  if (number == 0) {
    done({{0, no_such_lease(id)}});
    return;
  }
  const auto left = entries_.at(number).left;
  const auto tell = std::make_shared<std::function<void(Refusals)>>(std::move(done));
  const Instant until = loop_.clock().now() + patience_with_ends;
  leaving_.push_back({number, until, tell});
  loop_.wake_by(until);
  const auto is_over = [left, tell] {
    if (*tell) {
      std::exchange(*tell, nullptr)(*left);
    }
  };
  end(number, "released", is_over, true);
}

void LeaseDesk::look_at_leaving(Instant now) {
  std::erase_if(leaving_, [](const Leaving& one) { return !*one.tell; });
  for (const Leaving& one : std::vector<Leaving>{leaving_}) {
    const auto found = entries_.find(one.number);
    if (found == entries_.end() || !*one.tell) {
      continue;
    }
    if (now < one.until) {
      loop_.wake_by(one.until);
      continue;
    }
    Refusals late;
    for (const int gpu : found->second.on) {
      late[gpu] = *refusal_of(GpuSeat::End::late, gpu_name(seat_of(gpu)));
    }
    std::exchange(*one.tell, nullptr)(std::move(late));
  }
}

void LeaseDesk::ask_whether_overruled(const Client& client, std::string_view id, const Wanted& wanted,
                                      std::function<void(std::optional<Refused>, std::string)> done) {
  const Number number = find(client, id);
  if (number == 0) {
    done(no_such_lease(id), {});
    return;
  }
  const Entry& entry = entries_.at(number);
  const auto why = std::make_shared<std::string>();
  const auto gathered = std::make_shared<Gathered>(
      entry.on.size(), [why, done = std::move(done)](const Refusals& /*told in words*/) { done(std::nullopt, *why); });
  for (const int gpu : std::set<int>{entry.on}) {
    GpuSeat& seat = seat_of(gpu);
    seat.ask_whether_overruled(
        number, wanted, [this, number, gathered, why, gpu, &seat](GpuSeat::End end, const std::string& said) {
          const std::optional<Refused> no = refusal_of(end, gpu_name(seat));
          const auto found = entries_.find(number);
          const bool is_set_by_child = found != entries_.end() && found->second.set_by_child.contains(gpu);
          if (why->empty()) {
            *why = no                ? no->text
                   : is_set_by_child ? gpu_name(seat) + " was set by a process that this one has started"
                                     : said;
          }
          gathered->add(gpu, std::nullopt);
        });
  }
}

void LeaseDesk::renew_own(Number number, Entry& entry, Instant now) {
  entry.view.ends = now + entry.view.term;
  entry.next_renewal = now + entry.view.term / 3;
  for (const int gpu : std::set<int>{entry.on}) {
    seat_of(gpu).renew(number, [this, number](GpuSeat::End end, const std::optional<Error>& error) {
      if (end == GpuSeat::End::done && error && error->kind() == ErrorKind::timeout) {
        this->end(number, "the daemon did not renew it in time", {});
      }
    });
  }
}

}  // namespace zeus::daemon
