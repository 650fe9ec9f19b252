// A job's definition as its user gives it (zeus/job.hpp), and as the store keeps it. Pure functions; any thread.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_view.hpp"

#include <zeus/job.hpp>

namespace zeus::job_library {

// Options that are left out are those of `known`, the job's present definition; null for a new job. An invalid_argument
// Error if the definition makes no sense, as far as that can be seen without the devices.
records::JobDefinition stored_definition(const JobDefinition& definition, const records::JobDefinition* known);
JobDefinition public_definition(const records::JobDefinition& definition);

// An impossible device is an invalid_argument Error.
records::JobDevice stored_device(const JobDevices& devices);

JobSummary summary_of(const records::JobView& view);

}  // namespace zeus::job_library
