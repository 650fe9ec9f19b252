// The end of a share: which settings it puts back, and which it leaves to other shares or to a borrowing child.
#include "control/local_lease.hpp"

#include "control/claim_end.hpp"
#include "control/put_back.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

namespace zeus::control {

std::optional<std::string> LocalLease::withdraw() {
  const Found before = holding_->in_force();
  const Found kinds = touched(holding_->settings.of(share_));
  holding_->settings.withdraw(share_);
  holding_->shares[share_].overruled.clear();
  tell_others(before);
  return put_back(leave_to_child(only(holding_->in_force(), kinds)), gpu_);
}

Found LocalLease::leave_to_child(const Found& coming_back) {
  if (holding_->borrowed || holding_->record.child() == nullptr) {
    return coming_back;
  }
  LeaseRecord next = holding_->record;
  Found& found = next.lending->child->found;
  const Found changed = found;
  found = overlaid(found, only(coming_back, found));
  if (next != holding_->record) {
    write(next);
  }
  return without(coming_back, changed);
}

std::optional<std::string> LocalLease::leave() {
  released_ = true;
  if (holding_->shares.size() == 1) {
    return give_up();
  }
  try {
    return leave_to_others();
  } catch (...) {
    holding_->shares.erase(share_);  // else the last one would not know that it is
    throw;
  }
}

std::optional<std::string> LocalLease::leave_to_others() {
  holding_->in_time_until = holding_->ends();
  const Seconds former = holding_->term();
  std::optional<std::string> failure = withdraw();
  holding_->shares.erase(share_);
  LeaseRecord next = holding_->record;
  Claim& ours = holding_->part_of(next);
  if (holding_->term() < former) {
    ours.expires = clock_->now() + holding_->written_for();
  }
  ours.client = holding_->client();
  forget_withdrawn(next, !failure);
  if (next != holding_->record) {
    write(next);
  }
  return failure;
}

bool LocalLease::child_goes_on() const {
  return !holding_->borrowed && holding_->record.child() != nullptr &&
         ledger_->standing(holding_->record, clock_->now()) == Standing::held;
}

std::optional<std::string> LocalLease::give_to_child() {
  std::optional<std::string> failure = put_back(leave_to_child(holding_->record.found), gpu_);
  LeaseRecord next = holding_->record;
  static_cast<Claim&>(next) = *holding_->record.child();
  next.lending = Lending{};
  ledger_->write(next);
  return failure;
}

std::optional<std::string> LocalLease::give_up() {
  std::optional<std::string> failure;
  try {
    if (child_goes_on()) {
      failure = give_to_child();
    } else {
      const ClaimEnd due = holding_->borrowed ? end_of_child(holding_->record) : end_of_lease(holding_->record);
      failure = put_back(due.put_back, gpu_);
      if (!failure) {
        ledger_->settle(holding_->record, due);
      }
    }
  } catch (const Error& error) {
    failure = error.what();
  }
  end();
  return failure;
}

}  // namespace zeus::control
