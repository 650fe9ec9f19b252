// What a session measures and sets with, as the program around it supplies it. Plain values that own their contents;
// the Clock outlives them.
#pragma once

#include "base/clock.hpp"
#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "device/watt_range.hpp"
#include "train/meter.hpp"
#include "train/outer_run.hpp"

#include <zeus/units.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace zeus::train {

// A GPU of this process, with its number in this program, under which the meter reports it.
struct SessionGpu {
  int index = 0;
  std::shared_ptr<device::Gpu> gpu;
  // The power limits that the policy of a node allows this process, as known when it is called; empty if only the GPU's
  // own range bounds them. May be null: then no policy bounds anything.
  std::function<std::vector<device::WattRange>()> allowed = nullptr;
};

struct SessionParts {
  std::vector<SessionGpu> gpus;  // may be empty: then nothing is set or measured
  std::unique_ptr<Meter> meter;  // over those GPUs
  // Takes the lease of a GPU by its UUID (control::LeaseBook::acquire). Called when something is set for the first
  // time, and again after a lease was lost. If it throws, the training goes on without being optimized, and its error
  // is the reason.
  std::function<control::Lease(std::string_view uuid, Seconds term)> acquire;
  Clock& clock;
  // The run that sets the limits in this session's place, and that gets its progress; mostly null.
  std::unique_ptr<OuterRun> outer = nullptr;
  // Whether the training may be over soon, so that limits are compared in short slices.
  bool may_end_soon = false;
};

}  // namespace zeus::train
