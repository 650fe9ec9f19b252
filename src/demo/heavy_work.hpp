// The GPU work that the small network's training represents: ShuffleNet v2 on CIFAR-100, as in the NSDI'23 traces
// (physics/workload.hpp), with forty times the images. One image of the small network's batch counts as four of the
// workload's, whose batches are larger. So the number of epochs comes from really training the small network, and the
// cost of an epoch from the model. Immutable; any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <vector>

namespace zeus::demo {

struct EpochWork {
  physics::Demand demand;
  std::uint64_t steps = 0;
  Seconds step;  // at the highest clock without a limit
};

// In batches of this many images of the small network. A batch size unknown to the model is an invalid_argument Error.
EpochWork epoch_work(const physics::GpuModel& model, int batch_size);

// Those that the model knows between the two, ascending.
std::vector<int> batch_sizes(const physics::GpuModel& model, int smallest, int largest);

}  // namespace zeus::demo
