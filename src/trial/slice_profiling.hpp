// How a training session profiles the slices that a try asks for. A template over the session's options, which are of
// `train`: the program has them from its sessions, libzeus-jobs.so through public headers. Pure.
#pragma once

#include "trial/gpus.hpp"

#include <zeus/power_choice.hpp>

namespace zeus::trial {

// `usual` is how settings are compared where no limits are asked for, and then again if the training changes.
template <typename Profiling>
[[nodiscard]] Profiling profiling_of(const Slices& slices, Profiling usual) {
  if (!slices.limits.empty()) {
    usual.limits = slices.limits;
    usual.try_clocks = false;
    usual.drift_tolerance = 0;
  }
  if (slices.lengths) {
    usual.plan = SweepProfiling{.settle = slices.lengths->settle, .measure = slices.lengths->measure};
    usual.wait_steps = slices.lengths->wait;
  } else {
    usual.plan = AdaptiveProfiling{.warm_up = slices.warm_up};
  }
  return usual;
}

}  // namespace zeus::trial
