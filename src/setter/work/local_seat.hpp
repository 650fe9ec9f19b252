// A seat of this process, which sets the GPU: the only place that does so for zeusd, under leases of its own LeaseBook.
// A GPU that was lost is opened again when it is next needed.
//
// Threads: one at a time. Ownership: the book, the ledger and the clock outlive this object.
#pragma once

#include "base/clock.hpp"
#include "control/lease_book.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"
#include "device/driver_gate.hpp"
#include "setter/link/seat.hpp"
#include "setter/work/audited_control.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace zeus::setter {

class LocalSeat final : public Seat {
 public:
  struct Parts {
    device::DiscoveredGpu gpu;  // its control is `audited`
    std::shared_ptr<AuditedControl> audited;
    std::shared_ptr<device::DriverGate> gate;
  };

  // Leases of one GPU at a time, and the longest term of one.
  static constexpr std::size_t most_leases = 4096;
  static constexpr Seconds longest_term{3600};

  LocalSeat(control::LeaseBook& book, const control::Ledger& ledger, Parts parts, Clock& clock)
      : parts_{std::move(parts)}, book_{book}, ledger_{ledger}, clock_{clock} {}

  Taken take(LeaseNumber lease, Seconds term, const control::LeaseClient& client) override;
  SettingResult set(LeaseNumber lease, const Setting& setting) override;
  std::optional<Error> renew(LeaseNumber lease) override;
  std::optional<Error> restore(LeaseNumber lease) override;
  std::optional<Error> release(LeaseNumber lease, const std::string& why) override;
  std::optional<std::string> put_back_what_was_left() override;
  std::string overruled(LeaseNumber lease) override;
  [[nodiscard]] std::uint64_t calls() const override { return parts_.audited->calls(); }
  [[nodiscard]] Seconds longest() const override { return parts_.audited->longest(); }

  [[nodiscard]] const std::string& uuid() const { return parts_.gpu.gpu->identity().uuid; }
  // Ends all leases; failures are logged.
  void release_all(const std::string& why);

 private:
  // Once more if the GPU was lost and could be opened again.
  std::optional<Error> attempt(const std::function<void()>& work);
  control::Lease& lease(LeaseNumber number);
  [[nodiscard]] std::string client_of(LeaseNumber number) const;
  [[nodiscard]] std::string holder() const;
  // Reports and logs the settings of leases granted here that another process, usually a guardian, has put back.
  void tell_what_was_put_back();

  Parts parts_;
  control::LeaseBook& book_;
  const control::Ledger& ledger_;
  Clock& clock_;
  std::map<LeaseNumber, control::Lease> leases_;
};

}  // namespace zeus::setter
