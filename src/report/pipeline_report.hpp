// The report on a pipeline's plans: its time-energy frontier, and one iteration before and after. A pure function.
#pragma once

#include "records/pipeline_study.hpp"

#include <string>

namespace zeus::report {

// A whole HTML page.
std::string pipeline_report(const records::PipelineStudy& study);

}  // namespace zeus::report
