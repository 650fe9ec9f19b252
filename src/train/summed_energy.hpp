// The sum of the energies of several GPUs in one window, of one rank or of all. What each has alone of its uncertainty
// adds in squares; what GPUs share adds up, as ranks work in step. Their calibration may err in the same direction. A
// value; one thread.
#pragma once

#include "train/joining.hpp"

#include <zeus/energy.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace zeus::train {

struct SummedEnergy {
  Joules value;
  decltype(Joules{} * Joules{}) own;  // squares of half-widths
  Joules shared;                      // half-widths
  Joules systematic;
  bool systematic_unknown = false;
  EnergyMethod method = EnergyMethod::counter;

  void add(const Energy& one) {
    value += one.value;
    own += (one.uncertainty * one.own) * (one.uncertainty * one.own);
    shared += one.uncertainty * one.shared;
    systematic += one.systematic.value_or(Joules{0});
    systematic_unknown = systematic_unknown || !one.systematic;
    method = std::max(method, one.method);
  }

  [[nodiscard]] Energy energy() const {
    Energy all{
        .value = value, .systematic = systematic_unknown ? std::nullopt : std::optional{systematic}, .method = method};
    all.set_uncertainty(Joules{std::sqrt(own.value())}, shared);
    return all;
  }

  void joined(Joining& join) {
    join.sum(value);
    join.sum(own);
    join.sum(shared);
    join.sum(systematic);
    join.any(systematic_unknown);
    join.largest(method);
  }
};

}  // namespace zeus::train
