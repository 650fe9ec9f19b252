// The sum of the energies of several GPUs, of one rank or of all. Their uncertainties are independent of one another,
// but their calibration may err in the same direction. A value; one thread.
#pragma once

#include "train/joining.hpp"

#include <zeus/energy.hpp>

#include <algorithm>
#include <cmath>

namespace zeus::train {

struct SummedEnergy {
  Joules value;
  decltype(Joules{} * Joules{}) variance;  // of the half-widths
  Joules systematic;
  bool systematic_unknown = false;
  EnergyMethod method = EnergyMethod::counter;

  void add(const Energy& one) {
    value += one.value;
    variance += one.uncertainty * one.uncertainty;
    systematic += one.systematic.value_or(Joules{0});
    systematic_unknown = systematic_unknown || !one.systematic;
    method = std::max(method, one.method);
  }

  [[nodiscard]] Energy energy() const {
    return {.value = value,
            .uncertainty = Joules{std::sqrt(variance.value())},
            .systematic = systematic_unknown ? std::nullopt : std::optional{systematic},
            .method = method};
  }

  void joined(Joining& join) {
    join.sum(value);
    join.sum(variance);
    join.sum(systematic);
    join.any(systematic_unknown);
    join.largest(method);
  }
};

}  // namespace zeus::train
