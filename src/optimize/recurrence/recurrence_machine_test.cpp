#include "optimize/recurrence/recurrence_machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace zeus::optimize {
namespace {

using Machine = RecurrenceMachine;
using records::TryOutcome;

// An action, in the words of these tests.
struct Name {
  std::string operator()(const Machine::Ask&) const { return "ask"; }
  std::string operator()(const Machine::Claim&) const { return "claim"; }
  std::string operator()(const Machine::Start& one) const {
    return fmt::format("start {} {}", one.batch_size, one.seed);
  }
  std::string operator()(const Machine::Abandon& one) const { return fmt::format("abandon {}", one.batch_size); }
  std::string operator()(const Machine::Measure& one) const { return fmt::format("measure {}", one.limits.size()); }
  std::string operator()(const Machine::Hold& one) const {
    return one.limit ? fmt::format("hold {}", one.limit->value()) : "hold the best";
  }
  std::string operator()(const Machine::RecordLimits&) const { return "record limits"; }
  std::string operator()(const Machine::Conclude& one) const {
    constexpr const char* names[] = {"reached", "stopped", "exhausted", "lost"};
    return names[static_cast<int>(one.outcome)];
  }
  std::string operator()(const Machine::Stop&) const { return "stop"; }
  std::string operator()(const Machine::SeeThrough&) const { return "see through"; }
  std::string operator()(const Machine::GiveUp& one) const {
    constexpr const char* names[] = {"ended", "interrupted"};
    return fmt::format("give up: {}", names[static_cast<int>(one.why)]);
  }
  std::string operator()(const Machine::Done&) const { return "done"; }
};

class RecurrenceMachineTest : public testing::Test {
 protected:
  std::string on(const Machine::Event& event) {
    std::string all;
    for (const Machine::Action& action : machine_.on(event)) {
      all += (all.empty() ? "" : ", ") + std::visit(Name{}, action);
    }
    return all;
  }
  static Machine::TryWanted run(int batch_size, std::optional<Watts> limit = 200_W) {
    return {.plan = {.batch_size = batch_size, .limit = limit, .max_epochs = 10, .budget = 1000_J},
            .not_measured = {100_W, 200_W},
            .seed = 7,
            .cost = {},
            .next = {}};
  }
  static Machine::ProfileWanted profile(int batch_size) {
    return {.asked = {.batch_size = batch_size, .limits = {100_W, 200_W}}, .seed = 7};
  }
  static Machine::EpochOver epoch(int epochs, double cost, std::optional<Joules> next = {}) {
    return {.epochs = epochs, .cost = Joules{cost}, .next = next};
  }

  Machine machine_{{.target = records::JobTarget{.metric = 0.9}, .max_epochs = 50, .default_batch_size = 32}};
};

TEST_F(RecurrenceMachineTest, ATryEndsWhenItReachesItsTarget) {
  EXPECT_EQ(on(run(32)), "start 32 7, hold 200");
  EXPECT_EQ(on(epoch(1, 100)), "");
  EXPECT_EQ(on(Machine::MetricSeen{0.8}), "");
  EXPECT_EQ(on(Machine::MetricSeen{0.9}), "reached, see through, done");
}

TEST_F(RecurrenceMachineTest, NotANumberNeverReachesTheTarget) {
  on(run(32));
  EXPECT_EQ(on(Machine::MetricSeen{std::nan("")}), "");
  EXPECT_EQ(on(Machine::MetricSeen{std::numeric_limits<double>::infinity()}), "");
}

TEST_F(RecurrenceMachineTest, ATryWithoutALimitMeasuresLimitsAndHoldsTheBest) {
  EXPECT_EQ(on(run(32, std::nullopt)), "start 32 7, measure 2");
  EXPECT_TRUE(machine_.wants_limits());
  EXPECT_EQ(on(Machine::LimitsMeasured{.any = true}), "record limits, hold the best");
  EXPECT_FALSE(machine_.wants_limits());
}

TEST_F(RecurrenceMachineTest, RecordsMeasuredLimitsWhenATryEnds) {
  on(run(32, std::nullopt));
  EXPECT_EQ(on(Machine::MetricSeen{1.0}), "record limits, reached, see through, done");
}

TEST_F(RecurrenceMachineTest, ATryWithKnownLimitsMeasuresNothing) {
  Machine::TryWanted wanted = run(32, std::nullopt);
  wanted.not_measured.clear();
  EXPECT_EQ(on(wanted), "start 32 7, hold the best");
}

TEST_F(RecurrenceMachineTest, AMeasuredTrainingContinuesAsTheTry) {
  EXPECT_EQ(on(profile(64)), "start 64 7, measure 2");
  EXPECT_EQ(on(Machine::LimitsMeasured{.any = true}), "record limits, ask");
  EXPECT_EQ(on(run(64)), "hold 200");
}

TEST_F(RecurrenceMachineTest, AMeasuredTrainingOfAnotherBatchSizeIsAbandoned) {
  on(profile(64));
  on(Machine::LimitsMeasured{.any = true});
  EXPECT_EQ(on(run(32)), "abandon 64, start 32 7, hold 200");
}

TEST_F(RecurrenceMachineTest, ATrainingThatReachesTheTargetWhileMeasuredIsTheTry) {
  on(profile(64));
  EXPECT_EQ(on(Machine::MetricSeen{0.95}), "record limits, claim");
  EXPECT_EQ(on(run(64, std::nullopt)), "reached, see through, done");
}

TEST_F(RecurrenceMachineTest, AMissDuringMeasuringIsNotClaimed) {
  on(profile(64));
  EXPECT_EQ(on(epoch(50, 500)), "record limits, ask");
}

TEST_F(RecurrenceMachineTest, LimitsThatAreLeftAloneAreNotRecorded) {
  on(profile(64));
  EXPECT_EQ(on(Machine::LimitsMeasured{.any = true, .left_alone = true}), "ask");
  on(run(64, std::nullopt));
  EXPECT_EQ(on(Machine::LimitsMeasured{.left_alone = true}), "");
}

TEST_F(RecurrenceMachineTest, AMissEndsTheTrainingAndAsksAgain) {
  on(run(32));
  EXPECT_EQ(on(epoch(10, 500)), "stopped, stop");
  EXPECT_EQ(on(Machine::Stopped{}), "ask");
  EXPECT_EQ(on(run(32)), "start 32 7, hold 200") << "from its initial weights";
}

TEST_F(RecurrenceMachineTest, AnInterruptedMissEndsTheRecurrence) {
  on(run(32));
  on(epoch(10, 500));
  EXPECT_EQ(on(Machine::Stopped{.interrupted = true}), "give up: interrupted, done");
}

TEST_F(RecurrenceMachineTest, OnlyTheJobsOwnMaximumExhaustsATry) {
  Machine::TryWanted wanted = run(32);
  wanted.plan.max_epochs = 50;
  wanted.plan.budget.reset();
  on(wanted);
  EXPECT_EQ(on(epoch(49, 5000)), "");
  EXPECT_EQ(on(epoch(50, 5100)), "exhausted, stop");
}

TEST_F(RecurrenceMachineTest, StopsBeforeAnEpochKnownToCostTooMuch) {
  Machine::TryWanted wanted = run(32);
  wanted.next = 1001_J;
  EXPECT_EQ(on(wanted), "start 32 7, stopped, stop") << "not even one";
  on(Machine::Stopped{});
  on(run(32));
  EXPECT_EQ(on(epoch(2, 700, 300_J)), "");
  EXPECT_EQ(on(epoch(3, 701, 300_J)), "stopped, stop");
}

TEST_F(RecurrenceMachineTest, LearnsTheCostOfAnEpochFromTheCheapestAfterTheFirst) {
  on(run(32));
  EXPECT_EQ(on(epoch(1, 550)), "") << "the first one shows nothing: it includes the start";
  EXPECT_EQ(on(epoch(2, 700)), "");
  EXPECT_EQ(on(epoch(3, 849)), "") << "149 J at least";
  EXPECT_EQ(on(epoch(4, 852)), "") << "3 J at least";
  EXPECT_EQ(on(epoch(5, 998)), "stopped, stop");
}

TEST_F(RecurrenceMachineTest, StopsWithinAnEpochThatDoesNotEnd) {
  on(run(32));
  EXPECT_TRUE(machine_.watches_cost());
  EXPECT_EQ(on(Machine::CostSeen{1000_J}), "");
  EXPECT_EQ(on(Machine::CostSeen{1001_J}), "stopped, stop");
}

TEST_F(RecurrenceMachineTest, EarlierCostCountsAgainstTheBudget) {
  on(profile(64));
  on(Machine::LimitsMeasured{.any = true});
  Machine::TryWanted wanted = run(64);
  wanted.cost = 400_J;
  wanted.next = 601_J;
  EXPECT_EQ(on(wanted), "stopped, stop");
}

TEST_F(RecurrenceMachineTest, ASuspendedTrainingHasNoBudget) {
  on(run(32));
  on(Machine::StoodStill{});
  EXPECT_FALSE(machine_.watches_cost());
  EXPECT_EQ(on(epoch(1, 1e6)), "");
}

TEST_F(RecurrenceMachineTest, ATrainingSuspendedWhileMeasuredHasNoBudgetAsTheTry) {
  on(profile(64));
  on(Machine::StoodStill{});
  on(Machine::LimitsMeasured{.any = true});
  EXPECT_EQ(on(run(64)), "hold 200");
  EXPECT_EQ(on(Machine::CostSeen{1e6_J}), "");
}

TEST_F(RecurrenceMachineTest, AnEndBeforeTheTargetIsAMissAndACrashEndsTheRecurrence) {
  on(run(32));
  on(Machine::MetricSeen{0.5});
  EXPECT_EQ(on(Machine::Ended{}), "exhausted, stop");
  on(Machine::Stopped{});
  on(run(32));
  EXPECT_EQ(on(Machine::Ended{.crashed = true, .others_have_worked = true}), "lost, see through, give up: ended, done");
}

TEST_F(RecurrenceMachineTest, ACrashOfABatchSizeThatNeverWorkedIsAMiss) {
  on(run(64));
  EXPECT_EQ(on(Machine::Ended{.crashed = true, .others_have_worked = true}), "exhausted, stop");
}

TEST_F(RecurrenceMachineTest, ACrashByInterruptionTeachesNothing) {
  on(run(64));
  EXPECT_EQ(on(Machine::Ended{.crashed = true, .interrupted = true, .others_have_worked = true}),
            "lost, see through, give up: ended, done");
}

TEST_F(RecurrenceMachineTest, ACrashDuringMeasuringCountsForTheNextTry) {
  on(profile(64));
  EXPECT_EQ(on(Machine::Ended{.crashed = true}), "record limits, ask");
  EXPECT_EQ(on(run(64)), "lost, see through, give up: ended, done");
}

TEST_F(RecurrenceMachineTest, EventsAfterTheEndOfATryDecideNothing) {
  on(run(32));
  on(epoch(10, 500));
  EXPECT_EQ(on(Machine::MetricSeen{1.0}), "");
  EXPECT_EQ(on(Machine::CostSeen{1e6_J}), "");
  EXPECT_EQ(on(Machine::Ended{.crashed = true}), "");
}

TEST(RecurrenceMachine, WithoutATargetTheEndDecides) {
  RecurrenceMachine machine{{.target = {}, .max_epochs = 1}};
  machine.on(Machine::TryWanted{
      .plan = {.batch_size = 1, .limit = 200_W, .max_epochs = 1}, .not_measured = {}, .cost = {}, .next = {}});
  EXPECT_TRUE(machine.on(Machine::EpochOver{.epochs = 5, .cost = 5_J, .next = {}}).empty());
  const Machine::Actions actions = machine.on(Machine::Ended{});
  EXPECT_EQ(std::get<Machine::Conclude>(actions.at(0)).outcome, TryOutcome::reached);
}

}  // namespace
}  // namespace zeus::optimize
