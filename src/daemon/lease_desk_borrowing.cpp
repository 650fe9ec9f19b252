// Borrowing: which clients may borrow a lent GPU, and what happens when either lease ends (docs/decisions/0213).

#include "daemon/lease_desk.hpp"

#include <algorithm>
#include <vector>

namespace zeus::daemon {

LeaseDesk::Number LeaseDesk::in_the_way(const Client& client, const std::set<int>& gpus) const {
  const std::optional<ClientKey> key = key_of(client);
  std::optional<ClientKey> lender;
  for (const auto& [number, entry] : entries_) {
    const std::optional<ClientKey> holder = key_of(entry.view.client);
    if (!share_one(entry.on, gpus) || holder == key || entry.lender == key) {
      continue;
    }
    // A client borrows from one lender at a time, because the loan ends with the lender's lease.
    if (!lends_to(entry, client) || (lender && lender != holder)) {
      return number;
    }
    lender = holder;
  }
  return 0;
}

bool LeaseDesk::lends_to(const Entry& entry, const Client& client) const {
  const std::optional<ClientProcess>& lender = entry.view.client.process;
  return entry.lends && entry.phase == Phase::held && !entry.lender && lender && client.process &&
         ways_.descends(*client.process, *lender);
}

LeaseDesk::Number LeaseDesk::borrower(const ClientKey& lender, int gpu) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const auto& one) { return one.second.lender == lender && one.second.on.contains(gpu); });
  return found != entries_.end() ? found->first : 0;
}

void LeaseDesk::leave_or_end_borrowed(const Entry& ended, bool is_released) {
  const std::optional<ClientKey> lender = key_of(ended.view.client);
  std::vector<Number> lost;
  for (auto& [number, entry] : entries_) {
    if (entry.lender != lender || entry.phase == Phase::ending) {
      continue;
    }
    const bool is_still_lent = std::ranges::any_of(entries_, [&](const auto& one) {
      return key_of(one.second.view.client) == lender && one.second.phase != Phase::ending &&
             share_one(one.second.on, entry.on);
    });
    if (!is_still_lent && is_released) {
      entry.lender.reset();
    } else if (!is_still_lent) {
      lost.push_back(number);
    }
  }
  for (const Number number : lost) {
    end(number, "the process that it was borrowed from has lost its own", {});
  }
}

}  // namespace zeus::daemon
