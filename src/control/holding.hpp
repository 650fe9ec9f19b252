// What this process has of one GPU, and the shares of it. Seen by LocalLease and LocalLeases alone. Every member
// but `renew_at` is used while working on the GPU.
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

// The one lease of a GPU that this process has, which all who ask for one have a share of: its own, or what it has
// borrowed from a process that it descends from.
struct Holding {
  struct Share {
    Seconds term;
    std::optional<LeaseClient> client;
    std::string overruled;          // by another share, since this one last set something
    std::int64_t changes_seen = 0;  // of those that have borrowed from us, by then
  };

  LeaseRecord record;
  bool borrowed = false;  // ours is the child's part of the record
  bool over = false;      // what was set has been put back, or waits for it
  Instant in_time_until;  // of the work under way
  std::map<std::int64_t, Share> shares;
  std::int64_t next_share = 0;
  SharedSettings settings;
  // On the monotonic clock, in nanoseconds; used without working.
  std::atomic<std::int64_t> renew_at{0};

  // The longest that a share has asked for.
  [[nodiscard]] Seconds term() const;
  // For how long it is written down, and after how much of that it is written down anew. Who holds it for a client is
  // told of each renewal, and the client has its whole term from there, or up to a second more.
  [[nodiscard]] Seconds written_for() const;
  [[nodiscard]] Seconds renewed_after() const;
  // For whom it is held: for whom the oldest of the shares is.
  [[nodiscard]] std::optional<LeaseClient> client() const;
  // Our part of a record, which has one.
  [[nodiscard]] Claim& part_of(LeaseRecord& whole) const { return borrowed ? *whole.lending->child : whole; }
  [[nodiscard]] const Claim& ours() const { return borrowed ? *record.child() : record; }
  // Whether our claim is in what is written down.
  [[nodiscard]] bool is_in(const LeaseRecord& written) const;
  // When it ends unless renewed: what is borrowed, with the lease that it is borrowed from at the latest.
  [[nodiscard]] Instant ends() const;
  [[nodiscard]] std::int64_t changes_by_children() const {
    return !borrowed && record.lending ? record.lending->changes : 0;
  }
  // What the GPU is set to, as far as this lease has touched it.
  [[nodiscard]] Found in_force() const { return overlaid(ours().found, settings.latest()); }
};

}  // namespace zeus::control
