#include "optimize/recurrence/reported_training.hpp"

namespace zeus::optimize {

ReportVerdict judged(const Judgement& judgement, const ReportedTraining& training, const ReportedEpoch& report) {
  if (training.outcome) {
    return {.outcome = training.outcome};
  }
  if (report.epochs <= training.costs.epochs) {
    return {.outcome = {}};
  }
  EpochCosts costs = training.costs;
  return {.outcome = judgement.after_report(costs, report.epochs, report.cost, report.metric, {}), .decides = true};
}

}  // namespace zeus::optimize
