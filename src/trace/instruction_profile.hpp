// Profiles of a training loop's instructions as CSV. The header line has the columns stage, instruction, frequency
// (MHz), time (s) and energy (J) in any order; other columns except `rank` are ignored. One row is one measurement.
// Pure functions.
#pragma once

#include "records/instruction_profile.hpp"

#include <string>
#include <string_view>

namespace zeus::trace {

// `name` is what errors call the file. A string that is not such a file is a corrupt_data Error with name and line.
records::InstructionProfile parse_instruction_profile(const std::string& name, std::string_view text);

// Writes the file again with the columns above, and with `rank` first if every row has one.
std::string to_csv(const records::InstructionProfile& profile);

}  // namespace zeus::trace
