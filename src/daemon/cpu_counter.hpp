// A CPU's energy counter that goes on where the hardware's starts again at zero, and over a restart of the daemon that
// was shorter than the hardware's counter takes to come round. Where it cannot be known how often it came round, it
// begins anew, and says since when it has gone on. Plain values; one thread at a time.
#pragma once

#include "device/energy_counter.hpp"
#include "device/stamped.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::daemon {

class CpuCounter {
 public:
  // No package or memory takes more: a counter that may have come round unseen at this power is not trusted.
  static constexpr Watts most_power{2000};

  struct Reading {
    Joules total;
    Instant began;  // since when it has gone on without a break
  };

  // `raw` is later than any before; `generation` is that of the device, which tells whether its counter began anew.
  Reading take(const device::Stamped<Joules>& raw, const device::EnergyCounter& counter, std::uint64_t generation);

  // What outlives the daemon. Times are the machine's own, of one boot.
  struct Saved {
    Joules raw;
    Joules total;
    std::int64_t at_ns = 0;
    std::int64_t began_ns = 0;

    template <typename Fields, typename Self>
    static void describe(Fields& fields, Self& self) {
      fields("raw", self.raw, field::from_zero);
      fields("total", self.total, field::from_zero);
      fields("at_ns", self.at_ns);
      fields("began_ns", self.began_ns);
    }
    friend bool operator==(const Saved&, const Saved&) = default;
  };
  [[nodiscard]] std::optional<Saved> saved() const;
  void resume(const Saved& saved);

 private:
  struct Last {
    Joules raw;
    Instant at;
    std::optional<std::uint64_t> generation;  // nothing: read by an earlier daemon
  };
  std::optional<Last> last_;
  Joules total_;
  Instant began_;
};

// How long the counter may go unread: half of what it takes to come round at the most power there can be.
Seconds longest_unread(const device::EnergyCounter& counter);

}  // namespace zeus::daemon
