// All there is to show of a job, from its history (records/job_view.hpp). A pure function; any thread.
#pragma once

#include "jobs/job_state.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "store/job_store.hpp"

#include <span>

namespace zeus::jobs {

// `entries` is the whole history of `job`. One that cannot be is a corrupt_data Error.
records::JobView view_of(const store::StoredJob& job, std::span<const records::JobEntry> entries);

// `view` is all there is to show of a job, `state` what its history comes to.
records::JobSummary summary_of(const records::JobView& view, const JobState& state);

}  // namespace zeus::jobs
