// The report on a study's findings: figures and tables under their headings. A pure function; callable from any thread.
#pragma once

#include "records/findings.hpp"

#include <string>

namespace zeus::report {

// A whole HTML page.
std::string findings_report(const records::Findings& findings);

}  // namespace zeus::report
