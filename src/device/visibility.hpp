// The GPUs that a program will use, according to the driver's reading of the environment: CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER for NVIDIA, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES for AMD. Pure functions; any thread.
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

// The facts about one GPU of the machine that decide its visibility.
struct VisibilityCandidate {
  GpuIdentity identity;
  MigState mig;
};

// One device as the program numbers it: its position in the result is its number in the program.
struct VisibleGpu {
  std::size_t candidate = 0;         // position among the candidates
  std::optional<std::string> slice;  // UUID of the MIG slice, if only a slice is used; readings are of the whole GPU

  friend bool operator==(const VisibleGpu&, const VisibleGpu&) = default;
};

struct Visibility {
  std::vector<VisibleGpu> gpus;
  // Entries that may not mean what their author intended, or whose meaning cannot be known here. The list of GPUs is
  // the driver's even so.
  std::vector<DeviceProblem> problems;
};

// All GPUs of one vendor (others are left out), in the order and selection that programs see:
// - no variable: all, in the order that CUDA_DEVICE_ORDER asks for;
// - an index, a UUID ("GPU-..."), a unique prefix of one, or a MIG slice's name, separated by commas: in that order;
// - the first entry that names nothing (-1, an index too high, no such UUID, an ambiguous prefix) ends the list;
// - an empty variable, or a device named twice: none.
Visibility visible_gpus(std::span<const VisibilityCandidate> candidates, GpuVendor vendor,
                        const Environment& environment);

}  // namespace zeus::device
