// What the small network's training stands for on the virtual GPU: ShuffleNet v2 on CIFAR-100, as the NSDI'23 traces
// have it (physics/workload.hpp), with forty times the images. One image of the small network's batch is four of the
// workload's, whose batches are larger. So how many epochs it takes is learned for real, by the small network, and what
// an epoch takes is the model's. Immutable; any thread.
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

// In batches of this many images of the small network. One that the model does not know is an invalid_argument Error.
EpochWork epoch_work(const physics::GpuModel& model, int batch_size);

// That the model knows, of these: ascending.
std::vector<int> batch_sizes(const physics::GpuModel& model, int smallest, int largest);

}  // namespace zeus::demo
