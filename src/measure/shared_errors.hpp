// Which part of the errors of several GPUs in one window is one error. They share when they were read, if one delay of
// the reading thread was around the ticks of all of them; and they share what their loads did between two ticks, if
// they work in step. Pure functions on plain values; call them from any thread.
#pragma once

#include "measure/edge.hpp"
#include "measure/recent_load.hpp"

#include <zeus/energy.hpp>

#include <span>

namespace zeus::measure {

// One GPU in the window; without changes if none are known of its load.
struct InWindow {
  EnergyBetween energy;
  RecentLoad load;
};

// Of the variance, from 0 (each GPU has its own error) to 1 (all have the same one).
struct SharedErrors {
  double of_ticks = 0;
  double of_load = 1;  // also where nothing is known of the others, as for a GPU that is measured alone
};

SharedErrors shared_errors(std::span<const InWindow> gpus);

// Sets the parts of the uncertainty of an energy that was measured so.
void set_parts(Energy& energy, const InWindow& gpu, const SharedErrors& shared);

}  // namespace zeus::measure
