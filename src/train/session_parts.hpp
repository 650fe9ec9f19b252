// What a session measures and sets with, as its embedder brings it. Plain values that own what they hold; the Clock
// outlives them.
#pragma once

#include "base/clock.hpp"
#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "train/meter.hpp"
#include "train/outer_run.hpp"

#include <zeus/units.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace zeus::train {

// A GPU of this process and the number that this program knows it by, under which the meter reports it.
struct SessionGpu {
  int index = 0;
  std::shared_ptr<device::Gpu> gpu;
};

struct SessionParts {
  std::vector<SessionGpu> gpus;  // none is fine: nothing is set or measured then
  std::unique_ptr<Meter> meter;  // over those GPUs
  // Takes the lease of a GPU by its UUID (control::LeaseBook::acquire); called when something is to be set for the
  // first time, and again after a lease was lost. What it throws is why the training goes on unoptimized.
  std::function<control::Lease(std::string_view uuid, Seconds term)> acquire;
  Clock& clock;
  // Sets the limits in this session's place, and is told of its progress; null mostly.
  std::unique_ptr<OuterRun> outer = nullptr;
};

}  // namespace zeus::train
