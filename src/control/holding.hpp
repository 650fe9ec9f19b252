// This process's lease of one GPU, and the shares of it. Only LocalLease and LocalLeases use it. All members except
// `renew_at` require the lock for work on the GPU.
#pragma once

#include "base/clock.hpp"
#include "control/lease_client.hpp"
#include "control/lease_record.hpp"
#include "control/shared_settings.hpp"

#include <zeus/units.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace zeus::control {

// The one lease of a GPU that this process has: its own, or one borrowed from an ancestor process. Every request in
// this process gets a share of it.
struct Holding {
  struct Share {
    Seconds term;
    std::optional<LeaseClient> client;
    std::string overruled;          // what another share has changed since this share last set something
    std::int64_t changes_seen = 0;  // changes by borrowers of this lease, counted until then
  };

  LeaseRecord record;
  bool borrowed = false;  // this process is then the child in the record
  bool over = false;      // the settings have been restored, or are about to be
  Instant in_time_until;  // when the time for the current work ends
  std::map<std::int64_t, Share> shares;
  std::int64_t next_share = 0;
  SharedSettings settings;
  // In nanoseconds of the monotonic clock. It may be read and written without the lock.
  std::atomic<std::int64_t> renew_at{0};

  // The longest term of all shares.
  [[nodiscard]] Seconds term() const;
  // The term in the record, and how much of it may pass before the record is renewed. A client that owns a lease
  // reports each renewal to the holder, and then has its whole term again, or up to a second more.
  [[nodiscard]] Seconds written_for() const;
  [[nodiscard]] Seconds renewed_after() const;
  // The client of the oldest share, for which the GPU is held.
  [[nodiscard]] std::optional<LeaseClient> client() const;
  // This process's part of a record that contains one.
  [[nodiscard]] Claim& part_of(LeaseRecord& whole) const { return borrowed ? *whole.lending->child : whole; }
  [[nodiscard]] const Claim& ours() const { return borrowed ? *record.lending->child : record; }
  // True if `written` contains this process's claim.
  [[nodiscard]] bool is_in(const LeaseRecord& written) const;
  // When the lease ends unless it is renewed. A borrowed lease ends no later than the lease that it was borrowed from.
  [[nodiscard]] Instant ends() const;
  [[nodiscard]] std::int64_t changes_by_children() const {
    return !borrowed && record.lending ? record.lending->changes : 0;
  }
  // The settings that this lease has put in force on the GPU.
  [[nodiscard]] Found in_force() const { return overlaid(ours().found, settings.latest()); }
};

}  // namespace zeus::control
