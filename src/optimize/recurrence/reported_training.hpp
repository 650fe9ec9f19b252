// A training that is carried out elsewhere, tells of its epochs when they are over, and is told each time whether to go
// on: by one process, or by several ranks of which each tells for itself. Judged as any other (judgement.hpp). Pure;
// any thread.
#pragma once

#include "optimize/recurrence/judgement.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::optimize {

// What is known of it before it tells more.
struct ReportedTraining {
  EpochCosts costs;                            // by what has decided so far
  std::optional<records::TryOutcome> outcome;  // as it was told to end; nothing while it goes on
};

struct ReportedEpoch {
  int epochs = 0;  // over so far
  double metric = 0.0;
  Joules cost;  // so far
};

struct ReportVerdict {
  std::optional<records::TryOutcome> outcome;  // nothing: it goes on
  bool decides = false;                        // it is to be recorded; otherwise it repeats what was decided
};

// The first who tells of an epoch decides, and everybody else gets the same answer, also those who are behind: nobody
// stops before all do. So it is with one that was given up and tells of its epochs all the same: it ends well.
ReportVerdict judged(const Judgement& judgement, const ReportedTraining& training, const ReportedEpoch& report);

}  // namespace zeus::optimize
