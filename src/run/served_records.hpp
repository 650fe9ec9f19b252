// The records of a run whose job is kept by a server. One thread; the arguments outlive it.
#pragma once

#include "run/job_records.hpp"

#include <functional>
#include <memory>
#include <string>

namespace zeus::run {

// Creates the job there, or checks that it is the same, and begins a recurrence. `hurry` says whether the user wants to
// stop waiting for the server; `say` prints what the run waits for while nothing else goes on. Throws the server's
// errors, and unavailable or timeout if it is away.
std::unique_ptr<JobRecords> open_served_records(const RunOptions& options, const records::JobDevice& device,
                                                const TrainingGpus& gpus, const Place& place,
                                                std::function<bool()> hurry,
                                                std::function<void(const std::string&)> say);

}  // namespace zeus::run
