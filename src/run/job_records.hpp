// Where a run's job is recorded: its store, opened, and the recurrence begun there. One thread; what it is given
// outlives it.
#pragma once

#include "jobs/job.hpp"
#include "records/job_definition.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "store/job_store.hpp"

#include <memory>

namespace zeus::run {

struct JobRecords {
  // Errors are those of the store, of a job that was defined differently, and of a name that no job can have.
  JobRecords(const RunOptions& options, const records::JobDevice& device, const Place& place);

  std::unique_ptr<store::JobStore> store;
  jobs::Site site;
  jobs::Job job;
  jobs::Recurrence recurrence;
};

}  // namespace zeus::run
