// The report on a recurring job: its savings against the default, its beliefs, its choices, and the reasons. All its
// numbers are those of records::to_json(job), which the page contains. A pure function; any thread.
#pragma once

#include "records/charts.hpp"
#include "records/energy_rates.hpp"
#include "records/job_view.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::report {

struct JobReportOptions {
  records::CarbonIntensity carbon;
  std::optional<records::EnergyPrice> price = {};  // without it, money is not mentioned
  std::vector<std::string> remarks;                // about the job, each a paragraph below the title
  std::vector<records::ChartMark> happened;        // x: the first recurrence to which the mark applies
  // If the default was really run beside each recurrence: the savings against it, over different numbers of
  // recurrences.
  std::vector<records::SavingsView> really_run_default = {};
  std::vector<Joules> really_run_costs = {};  // of the default beside each recurrence, from the first on
};

// A whole HTML page.
std::string job_report(const records::JobView& job, const JobReportOptions& options = {});

}  // namespace zeus::report
