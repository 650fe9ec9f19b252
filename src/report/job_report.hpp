// The report on a recurring job: its savings against the default, its beliefs, its choices, and the reasons. All its
// numbers are those of records::to_json(job), which the page contains. A pure function; any thread.
#pragma once

#include "records/findings.hpp"
#include "records/job_view.hpp"

#include <string>
#include <vector>

namespace zeus::report {

// The emissions of producing electricity. The default is the world's average of 2023 (Ember, Global Electricity Review
// 2024: 480 g of CO2 equivalents per kWh).
struct CarbonIntensity {
  double grams_per_kilowatt_hour = 480.0;
  std::string source = "the world's average of 2023 (Ember)";

  [[nodiscard]] double grams(Joules energy) const { return energy.value() / 3.6e6 * grams_per_kilowatt_hour; }
};

struct JobReportOptions {
  CarbonIntensity carbon;
  std::vector<std::string> remarks;          // about the job, each a paragraph below the title
  std::vector<records::ChartMark> happened;  // x: the first recurrence to which the mark applies
  // If the default was really run beside each recurrence: the savings against it, over different numbers of
  // recurrences.
  std::vector<records::SavingsView> really_run_default = {};
  std::vector<Joules> really_run_costs = {};  // of the default beside each recurrence, from the first on
};

// A whole HTML page.
std::string job_report(const records::JobView& job, const JobReportOptions& options = {});

}  // namespace zeus::report
