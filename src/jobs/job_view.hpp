// Everything there is to show of a job, and its line in a list, from its account (job_account.hpp). Pure functions; any
// thread.
#pragma once

#include "jobs/job_account.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "store/job_store.hpp"

namespace zeus::jobs {

// With the recurrences and tries that the account keeps.
records::JobView view_of(const store::StoredJob& job, const JobAccount& account);

records::JobSummary summary_of(const store::StoredJob& job, const JobAccount& account);

}  // namespace zeus::jobs
