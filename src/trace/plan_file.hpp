// Frequency plans as files: what `zeus pipeline --json` writes, or a literal of Python as the existing tool writes it
// (freqs_pipeline_*.py): a list with a list of ('forward', 1410) for each pipeline rank or each rank. A literal is only
// read, never executed. Pure functions.
#pragma once

#include "records/pipeline_plan.hpp"

#include <string>
#include <string_view>

namespace zeus::trace {

// At least one rank, each with at least one instruction. `name` is what errors call the file. A string that is not
// such a file is a corrupt_data Error with name and, for a literal, line.
records::PlannedRanks parse_plan_file(const std::string& name, std::string_view text);

}  // namespace zeus::trace
