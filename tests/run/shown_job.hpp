// A job as `zeus jobs NAME --json` shows it: the parts that are compared with the true values. Pure; any thread.
#pragma once

#include "records/job_view.hpp"

#include <string_view>

namespace zeus::truth {

// Any other JSON is a corrupt_data Error.
records::JobView read_shown_job(std::string_view json);

}  // namespace zeus::truth
