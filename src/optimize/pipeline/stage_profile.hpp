// From measured rows to the time and energy of each stage's instructions at each frequency. Pure functions on plain
// values.
#pragma once

#include "records/computation_graph.hpp"
#include "records/instruction_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <vector>

namespace zeus::optimize::pipeline {

// The measurements of one instruction of one stage, on one GPU.
struct StageProfile {
  std::size_t stage = 0;
  records::ComputationProfile profile;  // its name is that of the instruction
};

struct StageProfiles {
  std::vector<StageProfile> profiles;
  std::size_t copies = 1;  // how many GPUs of each stage were measured
};

// Rows of the same GPU and frequency are repetitions: their mean counts. Rows of several ranks of a stage are copies
// that wait for the slowest one: the slowest time counts, with the mean energy, including the blocking of the faster
// ones. Stages measured on different numbers of ranks are an invalid_argument Error.
StageProfiles stage_profiles_of(const records::InstructionProfile& rows, Watts blocking_power);

}  // namespace zeus::optimize::pipeline
