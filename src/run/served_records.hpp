// The records of a run whose job is kept by a server. One thread; the arguments outlive it.
#pragma once

#include "run/job_records.hpp"

#include <functional>
#include <memory>
#include <string>

namespace zeus::run {

// Creates the job on the server, or checks that it is the same, and begins a recurrence. `hurry` returns whether the
// user wants to stop waiting for the server; `say` prints what the run waits for while it is idle. Throws the server's
// errors, and unavailable or timeout if the server does not answer.
std::unique_ptr<JobRecords> open_served_records(const RunOptions& options, const records::JobDevice& device,
                                                const TrainingGpus& gpus, const Place& place,
                                                std::function<bool()> hurry,
                                                std::function<void(const std::string&)> say);

}  // namespace zeus::run
