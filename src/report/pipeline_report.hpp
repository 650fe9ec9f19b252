// The reports on a pipeline: on its plans, with the time-energy frontier and one iteration before and after; and on
// what was measured without and with a plan. Pure functions.
#pragma once

#include "records/pipeline_study.hpp"

#include <string>

namespace zeus::report {

// Whole HTML pages.
std::string pipeline_report(const records::PipelineStudy& study);
std::string measured_report(const records::MeasuredStudy& study);

}  // namespace zeus::report
