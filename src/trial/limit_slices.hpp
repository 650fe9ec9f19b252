// What slices of steps or epochs say of power limits: how long a slice takes, and what its steps mean for an epoch.
#pragma once

#include "jobs/try.hpp"
#include "records/limit_profile.hpp"

#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::trial {

// Five ticks of a counter that ticks ten times a second.
inline constexpr Seconds shortest_slice{0.5};
// An epoch must be this many times as long as a slice: it also has steps to settle, and evaluation.
inline constexpr double epoch_for_a_slice = 2.0;
// Progress that comes faster than this is seen together: its times are not known better.
inline constexpr Seconds shortest_event{0.02};
// A GPU follows a new limit within a tenth of this time. Shorter slices of epochs get an epoch to settle.
inline constexpr Seconds needs_no_settling{2.0};

// For each of so many limits, when a training takes `run_time`: as long as `wanted`, or less, so that all take half of
// it.
[[nodiscard]] Seconds time_for_each_limit(Seconds wanted, std::optional<Seconds> run_time, std::size_t limits);

// What an epoch consists of.
struct EpochShape {
  double steps = 0.0;
  double beside_steps = 0.0;  // evaluation and the like, relative to the steps: 0.1 for a tenth
};

// The measured limits, ascending, as epochs of this shape; without one, what was measured were epochs. Settings with
// clocks are left out.
[[nodiscard]] std::vector<records::LimitProfile> limit_profiles(const PowerProfile& measured,
                                                                const std::optional<EpochShape>& shape);

// Two trainings may differ in more than their limits. So a limit that is known from another one is measured again with
// the limits that are compared with it, and these are reported as they would have been then.
class Reference {
 public:
  // Chooses, and returns the limits to measure: `limits`, and the known one unless it is one of them, or another limit
  // of this training has been measured before.
  [[nodiscard]] std::vector<Watts> add_to(std::vector<Watts> limits, const jobs::Try::Known& known,
                                          bool measured_before);
  // Without the reference, scaled by it; empty as long as it is not measured again.
  [[nodiscard]] std::vector<records::LimitProfile> scale(std::vector<records::LimitProfile> tonight) const;

 private:
  std::optional<records::LimitProfile> known_;
};

}  // namespace zeus::trial
