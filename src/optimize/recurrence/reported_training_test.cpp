#include "optimize/recurrence/reported_training.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zeus::optimize {
namespace {

using records::TryOutcome;

Judgement judgement(std::optional<Joules> budget = {}) {
  return {.target = records::JobTarget{.metric = 0.9}, .max_epochs = 20, .job_epochs = 20, .budget = budget};
}

// Keeps what is known of a training, as the process that records decisions does.
class Kept {
 public:
  explicit Kept(Judgement by) : by_{by} {}

  ReportVerdict tell(int epochs, double metric, double cost) {
    const ReportVerdict verdict = judged(by_, training_, {.epochs = epochs, .metric = metric, .cost = Joules{cost}});
    if (verdict.decides) {
      training_.costs.over(epochs, Joules{cost});
      training_.outcome = verdict.outcome;
    }
    return verdict;
  }

 private:
  Judgement by_;
  ReportedTraining training_;
};

TEST(ReportedTraining, TheFirstReportOfAnEpochDecidesForAllRanks) {
  Kept training{judgement(Joules{100})};
  EXPECT_TRUE(training.tell(1, 0.1, 20).decides);
  const ReportVerdict other = training.tell(1, 0.1, 500);
  EXPECT_FALSE(other.outcome) << "its own costs are over the budget, and rank 0 was allowed to go on";
  EXPECT_FALSE(other.decides);
  EXPECT_FALSE(training.tell(2, 0.1, 40).outcome);
  EXPECT_FALSE(training.tell(1, 0.95, 30).outcome) << "a rank that is behind";
  EXPECT_EQ(training.tell(3, 0.95, 60).outcome, TryOutcome::reached);
  const ReportVerdict behind = training.tell(3, 0.1, 60);
  EXPECT_EQ(behind.outcome, TryOutcome::reached) << "whatever its own metric is";
  EXPECT_FALSE(behind.decides);
}

TEST(ReportedTraining, ReachesItsTargetEvenOverBudget) {
  Kept training{judgement(Joules{100})};
  EXPECT_EQ(training.tell(1, 0.9, 1000).outcome, TryOutcome::reached);
}

TEST(ReportedTraining, StopsBeforeTheEpochThatWouldExceedTheBudget) {
  Kept training{judgement(Joules{100})};
  EXPECT_FALSE(training.tell(1, 0.1, 40).outcome) << "the cost of an epoch without the start is unknown";
  EXPECT_FALSE(training.tell(2, 0.2, 65).outcome) << "25 more are within";
  EXPECT_EQ(training.tell(3, 0.3, 90).outcome, TryOutcome::stopped) << "25 more are not";
  EXPECT_EQ(training.tell(4, 0.95, 91).outcome, TryOutcome::stopped) << "and that stands";
}

TEST(ReportedTraining, StopsAfterItsMaximumOfEpochs) {
  Kept training{judgement()};
  EXPECT_FALSE(training.tell(19, 0.1, 1).outcome);
  EXPECT_EQ(training.tell(20, 0.1, 2).outcome, TryOutcome::exhausted);
  Judgement fewer = judgement();
  fewer.max_epochs = 5;
  Kept pruned{fewer};
  EXPECT_EQ(pruned.tell(5, 0.1, 2).outcome, TryOutcome::stopped);
}

}  // namespace
}  // namespace zeus::optimize
