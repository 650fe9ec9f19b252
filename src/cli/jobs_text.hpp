// What `zeus jobs` prints. In colour, headings are bold, savings green and losses red. Pure functions; any thread.
#pragma once

#include "records/energy_rates.hpp"
#include "records/job_definition.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace zeus::cli {

// One line for each job.
std::string jobs_text(const std::string& store, std::span<const records::JobSummary> jobs, bool in_colour = false);
// The object that docs/cli.md promises for the list, on one line.
std::string jobs_json(const std::string& store, std::span<const records::JobSummary> jobs);

// What an import has done, as one line with its end.
std::string import_json(const std::string& name, std::uint64_t entries);

// All that is known of one job, with its last tries or all of them. With rates, what it took and saved is given as
// money and CO2, too.
std::string job_text(const records::JobView& job, bool all_tries, bool in_colour = false,
                     const records::EnergyRates& rates = {});

}  // namespace zeus::cli
