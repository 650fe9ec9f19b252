// A run's job where a server keeps it. One thread; what it is given outlives it.
#pragma once

#include "run/job_records.hpp"

#include <functional>
#include <memory>

namespace zeus::run {

// Makes the job there, or sees that it is the same, and begins a recurrence. `hurry` says whether somebody wants all
// waiting for the server to end. Errors are the server's, and unavailable or timeout where it is away.
std::unique_ptr<JobRecords> open_served_records(const RunOptions& options, const records::JobDevice& device,
                                                const TrainingGpus& gpus, const Place& place,
                                                std::function<bool()> hurry);

}  // namespace zeus::run
