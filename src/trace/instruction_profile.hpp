// Profiles of a training loop's instructions as CSV: a header line with the columns stage, instruction, frequency
// (MHz), time (s) and energy (J) in any order, others being ignored but for `rank`; a row per measurement. Pure
// functions.
#pragma once

#include "records/instruction_profile.hpp"

#include <string>
#include <string_view>

namespace zeus::trace {

// `name` is what the text is called in errors. What is not such a file is a corrupt_data Error with name and line.
records::InstructionProfile parse_instruction_profile(const std::string& name, std::string_view text);

// The same file again, in the columns above, `rank` first where it is known of every row.
std::string to_csv(const records::InstructionProfile& profile);

}  // namespace zeus::trace
