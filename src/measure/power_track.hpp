// Power readings over time and their energy: each value holds until the next one, the first one also before itself and
// the last one also after. Exact on constant power, wherever the readings fall. Not thread-safe: the owner serializes
// calls. Bounded memory.
#pragma once

#include "base/clock.hpp"
#include "device/stamped.hpp"
#include "measure/edge.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::measure {

class PowerTrack {
 public:
  static constexpr std::size_t depth = 8192;  // readings that are kept at least

  // `lag`: a reading holds from this long before its timestamp (the sensor's averaging window).
  explicit PowerTrack(Seconds lag = {});

  // Readings that are not later than the last one are left out.
  void add(const device::Stamped<Watts>& reading);
  // Later readings do not continue the earlier ones.
  void break_off();

  // Nothing without a reading since the last break; readings between `at` and now improve it.
  [[nodiscard]] std::optional<Edge> edge(Instant at) const;
  [[nodiscard]] std::size_t readings_between(Instant from, Instant to) const;
  [[nodiscard]] std::optional<Instant> latest() const;
  [[nodiscard]] const std::vector<device::Stamped<Watts>>& readings() const { return readings_; }

 private:
  struct Sum {
    Joules energy;
    JoulesSquared variance;  // of the energy, from what may have happened between readings
  };

  Seconds lag_;
  // Up to twice as many as are kept: the older half goes at once, and adding one allocates nothing.
  std::vector<device::Stamped<Watts>> readings_;
  std::vector<Sum> sums_;  // up to each reading
  std::uint64_t epoch_ = 0;
  std::size_t since_break_ = 0;
};

}  // namespace zeus::measure
