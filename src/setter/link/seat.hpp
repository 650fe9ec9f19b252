// The leases of one GPU, as zeusd holds them for its clients: here a lease is only a number. Carried out by the process
// that may set the GPU (setter/work), or asked for over a socket (remote_seat.hpp).
//
// Threads: one at a time, which waits for the driver. Failures are values: no call throws.
#pragma once

#include "control/lease_client.hpp"
#include "setter/link/setting.hpp"

#include <zeus/error.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::setter {

using LeaseNumber = std::uint64_t;

struct Taken {
  control::LeaseClient client;  // with what was found out about the process
  Reading<Watts> found;         // the power limit before the lease
  std::optional<Error> error;
};

class Seat {
 public:
  Seat() = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  virtual ~Seat() = default;

  // `client` is what identifies it; its process, if there is one, has an ID and a start time.
  virtual Taken take(LeaseNumber lease, Seconds term, const control::LeaseClient& client) = 0;
  virtual SettingResult set(LeaseNumber lease, const Setting& setting) = 0;
  virtual std::optional<Error> renew(LeaseNumber lease) = 0;
  // Puts back what was set through the lease.
  virtual std::optional<Error> restore(LeaseNumber lease) = 0;
  // Ends the lease, if it was taken at all. `why` is for the audit log.
  virtual std::optional<Error> release(LeaseNumber lease, const std::string& why) = 0;
  // Puts back what a dead holder has left on this GPU; reports what prevents that.
  virtual std::optional<std::string> put_back_what_was_left() = 0;
  // Whether another program has changed what was set through the lease, and how; empty otherwise.
  virtual std::string overruled(LeaseNumber lease) = 0;

  // How often the driver's setters were called. Any thread.
  [[nodiscard]] virtual std::uint64_t calls() const = 0;
  // The longest that a setting may take, if that is longer than a driver's call. Any thread.
  [[nodiscard]] virtual Seconds longest() const = 0;
};

}  // namespace zeus::setter
