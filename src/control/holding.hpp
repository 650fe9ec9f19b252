// What this process holds of one GPU, and the shares of it. Seen by LocalLease and LocalLeases alone. All members
// except `renew_at` are used while working on the GPU.
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

// The one lease of a GPU that this process has: its own, or one that it has borrowed from a process that it descends
// from. All takers in this process have a share of it.
struct Holding {
  struct Share {
    Seconds term;
    std::optional<LeaseClient> client;
    std::string overruled;          // what another share has changed since this one last set something
    std::int64_t changes_seen = 0;  // by borrowers of ours, counted up to then
  };

  LeaseRecord record;
  bool borrowed = false;  // our part of the record is the child's
  bool over = false;      // what was set has been put back, or is about to be
  Instant in_time_until;  // when the time of the current work is up
  std::map<std::int64_t, Share> shares;
  std::int64_t next_share = 0;
  SharedSettings settings;
  // On the monotonic clock, in nanoseconds; read and written without working on the GPU.
  std::atomic<std::int64_t> renew_at{0};

  // The longest term of any share.
  [[nodiscard]] Seconds term() const;
  // The term in the record, and how much of it may pass before the record is renewed. A client whose lease it is
  // reports each renewal to the holder, and from then on has its whole term, or up to a second more.
  [[nodiscard]] Seconds written_for() const;
  [[nodiscard]] Seconds renewed_after() const;
  // The client that it is held for: that of the oldest share.
  [[nodiscard]] std::optional<LeaseClient> client() const;
  // Our part of a record that has one.
  [[nodiscard]] Claim& part_of(LeaseRecord& whole) const { return borrowed ? *whole.lending->child : whole; }
  [[nodiscard]] const Claim& ours() const { return borrowed ? *record.child() : record; }
  // True if `written` contains our claim.
  [[nodiscard]] bool is_in(const LeaseRecord& written) const;
  // When it ends unless renewed. A borrowed lease ends with the lease that it is borrowed from at the latest.
  [[nodiscard]] Instant ends() const;
  [[nodiscard]] std::int64_t changes_by_children() const {
    return !borrowed && record.lending ? record.lending->changes : 0;
  }
  // The settings that this lease has put in force on the GPU.
  [[nodiscard]] Found in_force() const { return overlaid(ours().found, settings.latest()); }
};

}  // namespace zeus::control
