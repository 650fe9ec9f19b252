// What `zeus demo` prints at its end. Pure functions; any thread.
#pragma once

#include "demo/tour.hpp"
#include "records/job_view.hpp"
#include "report/job_report.hpp"

#include <cstddef>
#include <string>

namespace zeus::cli {

// The savings of the last `last_nights` nights against the default, which really ran on the same images.
records::SavingsView savings_of(const demo::TourResult& result, std::size_t last_nights);

// A table of the default beside what Zeus found, and a sentence on it.
std::string demo_summary(const demo::TourResult& result, const records::CarbonIntensity& carbon);

// The form that docs/cli.md promises, as one line with its end. `report` and `store` are files.
std::string demo_json(const demo::TourResult& result, const std::string& report, const std::string& store);

report::JobReportOptions demo_report_options(const demo::TourResult& result, const records::CarbonIntensity& carbon);

}  // namespace zeus::cli
