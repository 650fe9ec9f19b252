#include "optimize/recurrence/reported_training.hpp"

namespace zeus::optimize {

ReportVerdict judged(const Judgement& judgement, const ReportedTraining& training, const ReportedEpoch& report) {
  const bool lost = training.outcome == records::TryOutcome::lost;
  if (training.outcome && !lost) {
    return {.outcome = training.outcome};
  }
  if (!lost && report.epochs <= training.costs.epochs) {
    return {.outcome = {}};
  }
  EpochCosts costs = training.costs;
  return {.outcome = judgement.after_report(costs, report.epochs, report.cost, report.metric, {}), .decides = !lost};
}

}  // namespace zeus::optimize
