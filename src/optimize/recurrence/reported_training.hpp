// A training that runs elsewhere. It reports its epochs when they are over, and each answer says whether to go on. One
// process reports, or several ranks, each for itself. It is judged like any other training (judgement.hpp). Pure; any
// thread may call it.
#pragma once

#include "optimize/recurrence/judgement.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::optimize {

// What is known of the training before the next report.
struct ReportedTraining {
  EpochCosts costs;                            // according to the reports that have decided so far
  std::optional<records::TryOutcome> outcome;  // the outcome that ended it; nothing while it goes on
};

struct ReportedEpoch {
  int epochs = 0;  // over so far
  double metric = 0.0;
  Joules cost;  // so far
};

struct ReportVerdict {
  std::optional<records::TryOutcome> outcome;  // nothing: it goes on
  bool decides = false;                        // whether to record it; otherwise it repeats an earlier decision
};

// The first report of an epoch decides. Reports from other ranks get the same answer, even from ranks that are behind,
// so either all ranks stop or none does. A training that was given up but still reports its epochs gets its outcome
// too, and ends cleanly.
ReportVerdict judged(const Judgement& judgement, const ReportedTraining& training, const ReportedEpoch& report);

}  // namespace zeus::optimize
