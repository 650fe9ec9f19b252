// A GPU cut into slices (NVIDIA's Multi-Instance GPU). No slice has a power sensor: a measurement is always of the
// whole GPU, and every report of it must say so. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zeus::device {

struct MigInstance {
  std::string uuid;  // "MIG-" and a UUID, or "MIG-GPU-<uuid>/<gpu instance>/<compute instance>" from old drivers
  std::string name;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;

  friend bool operator==(const MigInstance&, const MigInstance&) = default;
};

struct MigState {
  bool enabled = false;
  std::vector<MigInstance> instances;  // in the driver's order

  friend bool operator==(const MigState&, const MigState&) = default;
};

}  // namespace zeus::device
