// Explains in one sentence why a recurring job takes its next step. Pure functions; any thread.
#pragma once

#include "jobs/job_state.hpp"
#include "optimize/recurrence/recurring_job.hpp"

#include <string>

namespace zeus::jobs {

// `action` is what `state` answers now. The sentence has no full stop.
std::string why(const optimize::Action& action, const JobState& state);

}  // namespace zeus::jobs
