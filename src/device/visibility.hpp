// Which GPUs a program will use, as the driver reads the environment: CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER for
// NVIDIA's, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES for AMD's. Pure functions; call them from any thread.
#pragma once

#include "base/environment.hpp"
#include "device/gpu_identity.hpp"
#include "device/mig.hpp"

#include <zeus/device_values.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::device {

// What visibility needs to know of one GPU of the machine.
struct VisibilityCandidate {
  GpuIdentity identity;
  MigState mig;
};

// One device as the program numbers it: its position in the result is its number in the program.
struct VisibleGpu {
  std::size_t candidate = 0;         // position among the candidates
  std::optional<std::string> slice;  // UUID of the MIG slice, where only a slice is used: readings are of the whole GPU

  friend bool operator==(const VisibleGpu&, const VisibleGpu&) = default;
};

struct Visibility {
  std::vector<VisibleGpu> gpus;
  // What in the variables does not mean what their author may have thought, or cannot be known here. The list of GPUs
  // is that of the driver all the same.
  std::vector<DeviceProblem> problems;
};

// All GPUs of one vendor (others are left out), in the order and selection that programs see:
// - no variable: all, in the order that CUDA_DEVICE_ORDER asks for;
// - an index, a UUID ("GPU-..."), a unique beginning of one, or a MIG slice's name, separated by commas, in that order;
// - the first entry that names nothing (-1, an index too high, no such UUID, an ambiguous beginning) ends the list;
// - an empty variable, or a device named twice, leaves none.
Visibility visible_gpus(std::span<const VisibilityCandidate> candidates, GpuVendor vendor,
                        const Environment& environment);

}  // namespace zeus::device
