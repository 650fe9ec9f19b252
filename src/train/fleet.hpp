// All GPUs of one training, over all its processes: what they have in common. A plain value, the same in every rank.
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
  std::string product;  // the names of all models among them
  Watts lowest;         // limits that all of them allow
  Watts highest;
  Watts max_power;                // the highest limit of each, summed
  std::optional<Watts> found;     // what all were found with
  std::vector<Megahertz> clocks;  // to which all can be locked, from the highest down
  std::string unsettable;         // why no power limit can be set; empty when it can
};

// Asks all ranks, and leaves out of `group` what a lower rank speaks for already, so that a GPU that several ranks see
// is measured and set once. Errors as of Ranks.
Fleet survey(GpuGroup& group, Ranks& ranks);

}  // namespace zeus::train
