// Gives out the leases that this process holds itself, from a folder of records. Used by LeaseBook alone. Any thread.
#pragma once

#include "control/lease_book.hpp"
#include "control/local_lease.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace zeus::control {

class LocalLeases {
 public:
  LocalLeases(LeasePlace place, Lends lends);

  // Like LeaseBook::acquire(), for a GPU that is there.
  [[nodiscard]] std::unique_ptr<LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term,
                                                   const LeaseTaking& taking);
  [[nodiscard]] bool has_one(std::string_view uuid, Seconds patience) const;

 private:
  void restore_what_was_left(const device::DiscoveredGpu& gpu, const LeaseTaking& taking);
  // The record of a lease that begins now: a new record, or `present` with what is borrowed of it.
  [[nodiscard]] LeaseRecord begun(const device::DiscoveredGpu& gpu, Seconds term,
                                  const std::optional<LeaseClient>& client,
                                  const std::optional<LeaseRecord>& present) const;

  LeasePlace place_;
  Lends lends_;
};

}  // namespace zeus::control
