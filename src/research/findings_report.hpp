// The report on a study's findings: figures and tables under their headings. A pure function; callable from any thread.
#pragma once

#include "research/findings.hpp"

#include <string>

namespace zeus::research {

// A whole HTML page.
std::string findings_report(const Findings& findings);

}  // namespace zeus::research
