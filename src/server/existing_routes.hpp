// The routes for the existing package's clients of batch sizes, on the same port as ours: register a job, request a
// batch size, report each epoch, and give up a trial that ended without a result. Their trial is our try, numbered from
// 1; a job runs under policy `zeus`. Any thread; the service owns the jobs.
//
// Our additions to their interface are headers: Zeus-Takes, on a registration, says that beats are accepted;
// Zeus-Beat-Path, on a batch size requested with Zeus-Gives, says where to send them.
#pragma once

#include "jobs/job.hpp"
#include "records/job_event.hpp"
#include "server/existing_bodies.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::server {

// How long a training that sends no beats may be silent.
Seconds existing_lease(std::optional<Seconds> longest_epoch);

// A report as energy accounts have it. Clients do not state an uncertainty, so it is what GPUs can draw between two
// updates of their counters, at both ends.
records::TryProgress progress_of(const ExistingResult& result, const records::JobDevice& device);

// The answer to a report, given what its trial has become. A trial that was `given_up` is answered by its own figures,
// so that its training ends properly.
ExistingVerdict existing_verdict(const ExistingResult& result, const jobs::EpochAnswer& answer, bool given_up);

}  // namespace zeus::server
