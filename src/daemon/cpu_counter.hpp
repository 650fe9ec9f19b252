// A CPU's energy counter that goes on where the hardware's wraps to zero. It also goes on over a restart of the daemon,
// if that is shorter than the hardware's counter takes to wrap. Where the number of wraps is unknown, it starts again,
// and states since when it has counted. Plain values; one thread at a time.
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
  // No package or memory draws more. A counter that may have wrapped unseen at this power is not trusted.
  static constexpr Watts most_power{2000};

  struct Reading {
    Joules total;
    Instant began;  // since when it has counted without a break
  };

  // `raw` is later than any before. `generation` is the device's; another one means that its counter began again.
  Reading take(const device::Stamped<Joules>& raw, const device::EnergyCounter& counter, std::uint64_t generation);

  // What outlives the daemon. Times are the machine's own, within one boot.
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
    std::optional<std::uint64_t> generation;  // empty: read by an earlier daemon
  };
  std::optional<Last> last_;
  Joules total_;
  Instant began_;
};

// How long the counter may go unread: half of its time to wrap at the highest possible power.
Seconds longest_unread(const device::EnergyCounter& counter);

}  // namespace zeus::daemon
