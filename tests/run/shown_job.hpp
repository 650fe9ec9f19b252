// A job as `zeus jobs NAME --json` shows it: as much of it as the truth is held against. Pure; any thread.
#pragma once

#include "records/job_view.hpp"

#include <string_view>

namespace zeus::truth {

// What is no such JSON is a corrupt_data Error.
records::JobView read_shown_job(std::string_view json);

}  // namespace zeus::truth
