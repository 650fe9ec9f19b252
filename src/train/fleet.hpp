// All GPUs of one training, over all its processes, and what they have in common. A plain value, the same in all ranks.
#pragma once

#include "train/gpu_group.hpp"
#include "train/ranks.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::train {

struct Fleet {
  std::uint32_t gpus = 0;
  std::string product;  // the names of all their models
  Watts lowest;         // limits that all of them allow
  Watts highest;
  Watts max_power;                // the sum of their highest limits
  std::optional<Watts> found;     // the limit at which all were found
  std::vector<Megahertz> clocks;  // to which all can be locked, highest first
  // What a policy allows between `lowest` and `highest`, for each GPU that it bounds.
  std::vector<std::vector<device::WattRange>> allowed;
  std::string unsettable;  // why no power limit can be set; empty if it can
};

// Asks all ranks. Removes from `group` the GPUs that a lower rank speaks for, so that a GPU seen by several ranks is
// measured and set once. Throws the errors of Ranks.
Fleet survey(GpuGroup& group, Ranks& ranks);

}  // namespace zeus::train
