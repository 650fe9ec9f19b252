// A job's definition as its user says it (zeus/job.hpp), and as the store keeps it. Pure functions; any thread.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_view.hpp"

#include <zeus/job.hpp>

namespace zeus::job_library {

// What it leaves open is as `known` has it, which is how the job is defined already; none for a new one. What makes no
// sense is an invalid_argument Error, as far as that can be said without the devices.
records::JobDefinition stored_definition(const JobDefinition& definition, const records::JobDefinition* known);
JobDefinition public_definition(const records::JobDefinition& definition);

// A device that cannot be is an invalid_argument Error.
records::JobDevice stored_device(const JobDevices& devices);

JobSummary summary_of(const records::JobView& view);

}  // namespace zeus::job_library
