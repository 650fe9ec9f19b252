// Power readings over time and what they add up to: each value holds until the next one, the first also before itself
// and the last also after. Exact on constant power, wherever the readings fall. Not thread-safe; whoever owns it takes
// turns. Bounded memory.
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

  // `lag` is how long before its stamp a reading begins to be true (the sensor's averaging window).
  explicit PowerTrack(Seconds lag = {});

  // Readings that are not later than the last one are left out.
  void add(const device::Stamped<Watts>& reading);
  // What comes after was not watched together with what came before.
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
