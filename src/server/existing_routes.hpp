// The routes that the existing package's clients of batch sizes ask, on the same port as ours: a job is registered, a
// batch size asked for, each epoch reported, and a trial that ended without a result given up. A trial of theirs is a
// try of ours, numbered from 1; a job runs under policy `zeus`. Any thread; the jobs are the service's.
//
// What ours says beside what theirs says is in headers: that beats are taken (Zeus-Takes, on a registration), and where
// they go (Zeus-Beat-Path, on a batch size that was asked for with Zeus-Gives).
#pragma once

#include "jobs/job.hpp"
#include "records/job_event.hpp"
#include "server/existing_bodies.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::server {

// How long the silence of a training that never beats still means life.
Seconds existing_lease(std::optional<Seconds> longest_epoch);

// A report as an account of energy has it. Nobody says how sure it is of what it has taken: what GPUs can draw between
// two updates of their counters, at both ends, is in doubt.
jobs::EpochReport epoch_report(const ExistingResult& result, const records::JobDevice& device);

// The answer to a report on a trial that has become this, or goes on. One that was `given_up` is told what its figures
// mean, so that its training ends well.
ExistingVerdict existing_verdict(const ExistingResult& result, const jobs::EpochAnswer& answer, bool given_up);

}  // namespace zeus::server
