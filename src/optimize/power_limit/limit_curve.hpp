// What a power setting changes for a step, from all settings that were measured: their times scatter from slice to
// slice, but they lie on one curve. Pure.
//
// A GPU that is held back runs at the clock at which its power is the limit: power = waiting + dynamic x clock^alpha,
// for the share of a step in which the GPU works; the rest of a step takes as long under any limit. So a step's time is
//
//     time(power) = scale x (busy x ((free - waiting) / (power - waiting))^(1/alpha) + 1 - busy)
//
// with the measured power, which hardly scatters. None of free (the power without a limit), waiting, alpha and busy is
// known: all plausible values are averaged, weighted by how well they explain the measured times. What no curve
// explains counts as scatter of single limits, whose extent is found in the same way. Scatter that a slice knows of is
// given.
#pragma once

#include "records/power_profile.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace zeus::optimize {

// Relative: 0.1 for a tenth more. `half_width` is that of the 95 % interval.
struct RelativeChange {
  double value = 0.0;
  double half_width = 0.0;

  // Whether it can be told from chance that there is a change.
  [[nodiscard]] bool is_known() const { return value + half_width < 0.0 || value - half_width > 0.0; }
};

struct StepChange {
  RelativeChange time;
  RelativeChange energy;
};

// From the setting of the measurement `from` to that of `to`. Times and energies are above 0. A locked clock lies on
// the same curve.
[[nodiscard]] StepChange step_change(std::span<const records::PowerMeasurement> limits, std::size_t from,
                                     std::size_t to);

// Between two settings of a profile; empty unless both were measured.
[[nodiscard]] std::optional<StepChange> step_change(const records::PowerProfile& profile,
                                                    const records::PowerSetting& from, const records::PowerSetting& to);

}  // namespace zeus::optimize
