// Who keeps the job of a run: the store or the server that its options name. The arguments outlive the keeper.
#pragma once

#include "jobs/keeper.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"

#include <functional>
#include <memory>
#include <string>

namespace zeus::run {

// `hurry` returns whether the user wants to stop waiting for a server; `say` prints what the run waits for while it is
// idle.
std::unique_ptr<jobs::Keeper> job_keeper(const RunOptions& options, const TrainingGpus& gpus, const Place& place,
                                         std::function<bool()> hurry, std::function<void(const std::string&)> say);

// Creates the job of the options, or checks that it is the same, and begins a recurrence on this device. Without a
// policy on the command line, the job keeps the policy that it began with.
std::unique_ptr<jobs::RecurrenceLink> begin(jobs::Keeper& keeper, const RunOptions& options,
                                            const records::JobDevice& device);

}  // namespace zeus::run
