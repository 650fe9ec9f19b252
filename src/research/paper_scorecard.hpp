// The claims of the NSDI'23 paper beside what a study found: a row for each, with a verdict. Every number is worked out
// from the study's own figures, so that others can work it out again from the page's JSON. A pure function; any thread.
#pragma once

#include "records/findings.hpp"

#include <string>
#include <vector>

namespace zeus::research {

struct ScorecardSetting {
  std::string main_gpu;           // as in the keys of the study's samples
  std::vector<std::string> gpus;  // all of them
  bool of_traces = false;         // traces were replayed, not the built-in models
};

// `sections` are those of a whole study.
std::vector<records::ScorecardRow> scorecard(const std::vector<records::FindingsSection>& sections,
                                             const ScorecardSetting& setting);

}  // namespace zeus::research
