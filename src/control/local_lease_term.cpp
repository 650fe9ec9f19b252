// Whether the lease is ours, and until when: checked before each change, and after it.
#include "control/local_lease.hpp"

#include "control/claim_end.hpp"
#include "control/put_back.hpp"
#include "control/restoration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::control {

GpuLock::Work LocalLease::begin() {
  return lock_->begin_work(*clock_, work_patience);
}

GpuLock::Work LocalLease::begin_change() {
  guardian_->watch(gpu_.gpu->identity().uuid);  // the record is another thread's meanwhile
  GpuLock::Work work = begin();
  require_ours();
  return work;
}

GpuLock::Work LocalLease::begin_setting() {
  GpuLock::Work work = begin_change();
  const Claim* const child = holding_->borrowed ? nullptr : holding_->record.child();
  if (child == nullptr) {
    return work;
  }
  if (ledger_->standing(holding_->record, clock_->now()) != Standing::child_abandoned) {
    throw Error{ErrorKind::conflict,
                fmt::format("{} is set by {}, which this process has started", name_, to_text(*child)),
                "go on without setting it, or wait until that process is done"};
  }
  const ClaimEnd ending = end_of_child(holding_->record);
  if (const std::optional<std::string> failure = put_back(ending.put_back, gpu_)) {
    throw Error{ErrorKind::unavailable,
                fmt::format("{} could not be put back to what {} had found: {}", name_, to_text(*child), *failure),
                "`zeus restore` shows how far it is, and tries as well"};
  }
  write(*ending.left);
  return work;
}

bool LocalLease::look() {
  const std::optional<LeaseRecord> written = ledger_->read(holding_->record.gpu);
  if (!written || written->boot != holding_->record.boot) {
    return false;
  }
  if (holding_->borrowed && written->lease == holding_->ours().lease) {
    holding_->borrowed = false;  // the process that it was borrowed from has released it
  } else if (!holding_->is_in(*written)) {
    return false;
  }
  holding_->record = *written;
  return true;
}

bool LocalLease::still_holds() {
  if (!holding_->over && !look()) {
    end();
  }
  return !holding_->over;
}

void LocalLease::require_ours() {
  if (released_) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the lease of {} has been released", name_),
                "take another one"};
  }
  if (!still_holds()) {
    throw overdue();
  }
  holding_->in_time_until = holding_->ends();
  require_in_time();
  extend();
  require_in_time();
}

void LocalLease::require_in_time() {
  if (clock_->now() < holding_->in_time_until) {
    return;
  }
  // No other process can have taken the GPU while we work on it, so what was found is still what to put back.
  std::optional<LeaseRecord> written = ledger_->read(holding_->record.gpu);
  const bool still_there = written && holding_->is_in(*written);
  const ClaimEnd due = ending(written);
  if (!put_back(due.put_back, gpu_)) {
    if (still_there || !written) {
      ledger_->settle(holding_->record, due);
    }
  } else if (!still_there) {
    LeaseRecord again = holding_->record;
    if (written && written->lease == again.lease) {
      again.expires = written->expires;
    }
    ledger_->write(again);
  }
  end();
  throw overdue();
}

ClaimEnd LocalLease::ending(const std::optional<LeaseRecord>& written) const {
  const LeaseRecord& record = holding_->record;
  const bool lender_goes_on =
      holding_->borrowed && written && written->lease == record.lease && clock_->now() < record.expires;
  return lender_goes_on ? end_of_child(record) : end_of_lease(record);
}

Error LocalLease::overdue() const {
  if (holding_->borrowed && clock_->now() < holding_->ours().expires) {
    return Error{
        ErrorKind::timeout,
        fmt::format(
            "the lease of {} ended with that of {} from which it was borrowed, and what it had set was put back", name_,
            to_text(holding_->record)),
        "take another one"};
  }
  return Error{ErrorKind::timeout,
               fmt::format("the lease of {} was not renewed for {:.6g} s, and what it had set was put back", name_,
                           holding_->term().value()),
               "take another one, or go on without it if another process has the GPU now"};
}

void LocalLease::write(const LeaseRecord& next) {
  try {
    ledger_->write(next);
  } catch (const Error&) {
    require_in_time();  // if the GPU was overdue and put back, the file being written was removed with its record
    throw;
  }
  holding_->record = next;
  holding_->renew_at = (holding_->ours().expires - holding_->written_for() + holding_->renewed_after()).nanoseconds;
  guardian_->notice();
}

void LocalLease::extend() {
  const Instant now = clock_->now();
  if (now.nanoseconds >= holding_->renew_at) {
    LeaseRecord next = holding_->record;
    holding_->part_of(next).expires = now + holding_->written_for();
    write(next);
  }
}

void LocalLease::end() {
  holding_->over = true;
  lock_->let_go(holding_->ours().lease);
  guardian_->notice();
}

bool LocalLease::share(std::shared_ptr<Holding> present) {
  holding_ = std::move(present);
  if (!still_holds()) {
    return false;
  }
  if (clock_->now() < holding_->ends()) {
    join();
    return true;
  }
  end();
  return false;
}

void LocalLease::begin_with(std::shared_ptr<Holding> fresh) {
  holding_ = std::move(fresh);
  const std::int64_t lease = holding_->ours().lease;
  lock_->hold(lease);
  try {
    join();
  } catch (...) {
    lock_->let_go(lease);
    throw;
  }
}

void LocalLease::join() {
  const bool first = holding_->shares.empty();
  const Seconds former = holding_->term();
  share_ = holding_->next_share++;
  holding_->shares[share_] = {
      .term = term_, .client = client_, .overruled = {}, .changes_seen = holding_->changes_by_children()};
  holding_->in_time_until = holding_->ends();
  if (!first && !(term_ > former)) {
    return;
  }
  LeaseRecord next = holding_->record;
  holding_->part_of(next).expires = clock_->now() + holding_->written_for();
  try {
    write(next);
  } catch (...) {
    holding_->shares.erase(share_);
    throw;
  }
}

}  // namespace zeus::control
