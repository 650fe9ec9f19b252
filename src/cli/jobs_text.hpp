// What `zeus jobs` prints. Pure functions; any thread.
#pragma once

#include "records/job_view.hpp"

#include <span>
#include <string>

namespace zeus::cli {

// One line for each job.
std::string jobs_text(const std::string& store, std::span<const records::JobView> jobs);
// The object that docs/cli.md promises for the list, on one line.
std::string jobs_json(const std::string& store, std::span<const records::JobView> jobs);

// All that is known of one job: the last tries, or all of them.
std::string job_text(const records::JobView& job, bool all_tries);

}  // namespace zeus::cli
