// What the demo needs from outside: a virtual GPU in this process that it can find like any other and give work to.
// Programs provide it, because only they may name back-ends. One thread.
#pragma once

#include "base/clock.hpp"
#include "device/backend.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "physics/operating_point.hpp"

#include <functional>

namespace zeus::demo {

struct StageGpu {
  device::DiscoveredGpu device;
  std::function<void(const physics::Load&)> load;
  // Its settled state under the current load and limits.
  std::function<physics::OperatingPoint()> operating_point;
};

// Makes a GPU of this model, idle, on a clock that outlives it.
using MakeGpu = std::function<StageGpu(Clock& clock, const physics::GpuModel& model)>;

}  // namespace zeus::demo
