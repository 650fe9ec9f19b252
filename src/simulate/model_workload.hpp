// A built-in workload model in a form for replay: its epochs under each limit by the GPU model, and a number of runs
// drawn from its distribution of epochs. A pure function; callable from any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "simulate/workload.hpp"

#include <cstdint>
#include <string_view>

namespace zeus::simulate {

// Every feasible batch size; limits in steps of 25 W from the GPU's highest down; `runs` runs of each batch size, which
// depend on `seed` and the batch size alone. The default batch size must work, because people chose it: runs of it that
// would miss the target are drawn again.
Workload model_workload(const physics::Workload& model, const physics::GpuModel& gpu, std::uint64_t seed = 1,
                        int runs = 16);

// The same by names; an unknown one is a not_found Error that lists them.
Workload model_workload(std::string_view workload, std::string_view gpu);

}  // namespace zeus::simulate
