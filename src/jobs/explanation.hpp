// Why a recurring job does what it does next, in one sentence for a person. Pure functions; any thread.
#pragma once

#include "jobs/job_state.hpp"
#include "optimize/recurrence/recurring_job.hpp"

#include <string>

namespace zeus::jobs {

// `action` is what `state` answers now. Without a full stop.
std::string why(const optimize::Action& action, const JobState& state);

}  // namespace zeus::jobs
