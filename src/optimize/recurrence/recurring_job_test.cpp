#include "optimize/recurrence/recurring_job.hpp"

#include "tests/support/job_events.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::optimize {
namespace {

using records::TryOutcome;
using test::ended;
using test::energy_job;
using test::submitted;

// Gives the answers that the test sets, and records the questions and events.
struct Script {
  Decision answer = RunTry{.arm = 1, .limit = {}, .max_epochs = {}};
  std::optional<Question> asked;
  std::vector<std::size_t> events;  // the kind of each
  bool profiled_when_told = false;  // whether the book knew the limits before the policy got the event
};

class ScriptedPolicy final : public Policy {
 public:
  explicit ScriptedPolicy(Script& script) : script_{&script} {}

  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<ScriptedPolicy>(*this); }
  void apply(const records::JobEvent& event, const ProfileBook& profiles) override {
    script_->events.push_back(event.index());
    script_->profiled_when_told = profiles.profiled(1);
    ++told_;
  }
  [[nodiscard]] Decision decide(const Question& question, const ProfileBook&) const override {
    script_->asked = question;
    return script_->answer;
  }
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook&) const override { return {}; }
  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter& writer) const override { writer(told_); }
  void restore(StateReader& reader) override { reader(told_); }
  [[nodiscard]] int told() const { return told_; }

 private:
  Script* script_;
  int told_ = 0;
};

class RecurringJobTest : public testing::Test {
 protected:
  [[nodiscard]] RecurringJob job(const JobSpec& spec) { return {spec, std::make_unique<ScriptedPolicy>(script_)}; }
  [[nodiscard]] RecurringJob job() { return job(energy_job({8, 16}, 16)); }
  static records::TryPlan run(const RecurringJob& job, std::uint64_t recurrence = 50) {
    return std::get<records::TryPlan>(job.next(recurrence, 1000));
  }
  static records::LimitsProfiled profiled(std::uint64_t recurrence, Joules energy, Seconds time) {
    return {.recurrence = recurrence,
            .batch_size = 16,
            .limits = {test::measured(150_W, 4.0), test::measured(200_W, 5.0)},
            .energy = energy,
            .time = time};
  }
  // Runs one recurrence that fails `failures` times at 1 J each, and then reaches the target at `cost`.
  static void recur(RecurringJob& job, std::uint64_t recurrence, double cost, int failures = 0) {
    for (int failure = 0; failure < failures; ++failure) {
      job.apply(ended(0, recurrence, 16, 1.0, TryOutcome::stopped));
    }
    job.apply(ended(0, recurrence, 16, cost));
  }

  Script script_;
};

TEST_F(RecurringJobTest, GivesThePolicyWhatItKnowsOfTheRecurrence) {
  RecurringJob recurring = job();
  recurring.apply(ended(0, 3, 16, 30.0));
  recurring.apply(ended(1, 7, 16, 20.0, TryOutcome::stopped));
  recurring.apply(ended(2, 8, 8, 5.0, TryOutcome::lost));
  recurring.apply(ended(3, 7, 8, 4.0, TryOutcome::exhausted));
  static_cast<void>(recurring.next(7, 12));
  ASSERT_TRUE(script_.asked);
  EXPECT_EQ(script_.asked->number, 12U);
  EXPECT_EQ(script_.asked->recurrence, 7U);
  EXPECT_EQ(script_.asked->spent, 24_J);
  EXPECT_EQ(script_.asked->tries, 2);
  EXPECT_EQ(script_.asked->best, 30_J);
  static_cast<void>(recurring.next(8, 13));
  EXPECT_EQ(script_.asked->spent, 5_J);
  EXPECT_EQ(script_.asked->tries, 1) << "lost tries count";
  static_cast<void>(recurring.next(3, 14));
  EXPECT_EQ(script_.asked->spent, 0_J) << "it is over";
  EXPECT_EQ(script_.asked->tries, 0);
}

TEST_F(RecurringJobTest, CarriesOutThePolicysDecision) {
  const RecurringJob recurring = job();
  EXPECT_EQ(run(recurring).batch_size, 16);
  EXPECT_EQ(run(recurring).max_epochs, 100);
  EXPECT_EQ(run(recurring).purpose, records::TryPurpose::exploit);
  EXPECT_FALSE(run(recurring).limit) << "nothing is measured: the try profiles all limits during its first epoch";
  EXPECT_FALSE(run(recurring).budget) << "no recurrence has ended yet";
  script_.answer = RunTry{.arm = 0, .limit = 100_W, .max_epochs = 7, .purpose = records::TryPurpose::concurrent};
  EXPECT_EQ(run(recurring).batch_size, 8);
  EXPECT_EQ(run(recurring).limit, 100_W);
  EXPECT_EQ(run(recurring).max_epochs, 7);
  EXPECT_EQ(run(recurring).purpose, records::TryPurpose::concurrent);
  script_.answer = RunTry{.arm = 0, .limit = {}, .max_epochs = 101};
  EXPECT_EQ(run(recurring).max_epochs, 100) << "the job's own maximum";
  script_.answer = ProfileLimits{.arm = 0, .limits = {100_W, 200_W}};
  const Action action = recurring.next(1, 1);
  ASSERT_TRUE(std::holds_alternative<records::ProfileAsked>(action));
  EXPECT_EQ(std::get<records::ProfileAsked>(action).batch_size, 8);
  EXPECT_EQ(std::get<records::ProfileAsked>(action).limits, (std::vector{100_W, 200_W}));
}

TEST_F(RecurringJobTest, RunsUnderTheCheapestMeasuredLimit) {
  RecurringJob recurring = job();
  recurring.apply(profiled(0, {}, {}));
  EXPECT_EQ(run(recurring).limit, 150_W);
  script_.answer = RunTry{.arm = 1, .limit = {}, .profile = true, .max_epochs = {}};
  EXPECT_FALSE(run(recurring).limit) << "the policy wants all limits measured";
  script_.answer = RunTry{.arm = 0, .limit = {}, .max_epochs = {}};
  EXPECT_FALSE(run(recurring).limit) << "the other batch size was not measured";
}

// Beta is 2: the budget is twice the least cost of a recurrence, or twice the usual cost if that is more.
TEST_F(RecurringJobTest, ATryMayCostBetaTimesTheBestOrTheUsual) {
  RecurringJob recurring = job();
  recur(recurring, 0, 30.0);
  recur(recurring, 1, 25.0);
  recur(recurring, 2, 40.0);
  EXPECT_EQ(recurring.best_cost(), 25_J);
  EXPECT_EQ(run(recurring).budget, 50_J);
  script_.answer = RunTry{.arm = 1, .limit = {}, .max_epochs = {}, .usual_cost = 28_J};
  EXPECT_EQ(run(recurring).budget, 56_J);
  script_.answer = RunTry{.arm = 1, .limit = {}, .max_epochs = {}, .usual_cost = 20_J};
  EXPECT_EQ(run(recurring).budget, 50_J);
  JobSpec spec = energy_job({8, 16}, 16);
  spec.beta = std::numeric_limits<double>::infinity();
  RecurringJob boundless = job(spec);
  recur(boundless, 0, 30.0);
  EXPECT_FALSE(run(boundless).budget);
}

// Two failed tries of 10 J, 7 J of profiling and a last try of 20 J: 47 J. What a try profiled while it ran is already
// in its own cost, and arrives without energy or time.
TEST_F(RecurringJobTest, ARecurrenceCostsEverythingSpentOnIt) {
  RecurringJob recurring = job();
  recurring.apply(profiled(4, 7_J, 2_s));
  EXPECT_EQ(script_.events, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(script_.profiled_when_told);
  recurring.apply(submitted(0, 4, 16));
  recurring.apply(ended(0, 4, 16, 10.0, TryOutcome::stopped));
  recurring.apply(ended(1, 4, 16, 10.0, TryOutcome::lost));
  recurring.apply(profiled(4, 0_J, 0_s));
  recurring.apply(ended(2, 4, 16, 20.0));
  EXPECT_EQ(recurring.best_cost(), 47_J);
  JobSpec time = energy_job({8, 16}, 16);
  time.eta = 0.0;
  RecurringJob timed = job(time);
  timed.apply(profiled(4, 0_J, 3_s));
  timed.apply(ended(2, 4, 16, 20.0));
  EXPECT_EQ(timed.best_cost(), 600_J) << "3 s at 200 W; the try took no time";
}

TEST_F(RecurringJobTest, GivesUpARecurrenceAfterTwentyTries) {
  RecurringJob recurring = job();
  for (int tries = 0; tries < 19; ++tries) {
    recurring.apply(ended(0, 6, 16, 1.0, TryOutcome::stopped));
  }
  EXPECT_TRUE(std::holds_alternative<records::TryPlan>(recurring.next(6, 1)));
  recurring.apply(ended(0, 6, 16, 1.0, TryOutcome::lost));
  const Action action = recurring.next(6, 1);
  ASSERT_TRUE(std::holds_alternative<records::FailedTries>(action));
  EXPECT_EQ(std::get<records::FailedTries>(action).tries, 20);
  EXPECT_TRUE(std::holds_alternative<records::TryPlan>(recurring.next(7, 1))) << "another recurrence";
  recurring.apply(records::RecurrenceAbandoned{.recurrence = 6});
  EXPECT_TRUE(std::holds_alternative<records::TryPlan>(recurring.next(6, 1))) << "it is closed";
  EXPECT_FALSE(recurring.best_cost());
}

TEST(UnlessInVain, RepeatsNoMissBeforeTheJobHasEverReachedItsTarget) {
  const records::TryPlan run{.batch_size = 16, .limit = {}, .max_epochs = 10, .budget = {}};
  const records::ProfileAsked profile{.batch_size = 16, .limits = {100_W}};
  for (const Action& action : {Action{run}, Action{profile}}) {
    EXPECT_EQ(unless_in_vain(action, {}, false).index(), action.index());
    EXPECT_EQ(unless_in_vain(action, std::vector{8, 32}, false).index(), action.index()) << "it has not been tried";
    EXPECT_EQ(unless_in_vain(action, std::vector{16, 16}, true).index(), action.index()) << "it was bad luck";
    const Action instead = unless_in_vain(action, std::vector{8, 16}, false);
    ASSERT_TRUE(std::holds_alternative<records::FailedTries>(instead));
    EXPECT_EQ(std::get<records::FailedTries>(instead).tries, 2);
    EXPECT_TRUE(std::get<records::FailedTries>(instead).never_reached);
  }
  const Action given_up = unless_in_vain(records::FailedTries{.tries = 20}, std::vector{8, 16}, false);
  EXPECT_FALSE(std::get<records::FailedTries>(given_up).never_reached) << "most of its tries taught nothing";
}

// The job has become more expensive: after five failures the bound is dropped for this recurrence, and its final cost
// is the least cost from then on.
TEST_F(RecurringJobTest, FiveFailuresDropTheBound) {
  for (const std::size_t window : {std::size_t{0}, std::size_t{3}}) {
    JobSpec spec = energy_job({8, 16}, 16);
    spec.window = window;
    RecurringJob recurring = job(spec);
    recur(recurring, 0, 30.0);
    recur(recurring, 1, 31.0);
    for (int failures = 1; failures <= 4; ++failures) {
      recurring.apply(ended(0, 2, 16, 60.0, TryOutcome::stopped));
      EXPECT_EQ(run(recurring, 2).budget, 60_J) << failures;
      EXPECT_EQ(script_.asked->best, 30_J);
    }
    recurring.apply(ended(0, 2, 16, 60.0, TryOutcome::stopped));
    EXPECT_FALSE(run(recurring, 2).budget);
    EXPECT_FALSE(script_.asked->best);
    EXPECT_EQ(run(recurring, 3).budget, 60_J) << "for other recurrences the bound stays";
    recurring.apply(ended(0, 2, 16, 100.0));
    EXPECT_EQ(recurring.best_cost(), 400_J);
    recur(recurring, 4, 150.0, 4);
    EXPECT_EQ(recurring.best_cost(), 154_J) << "four failures do not drop the bound";
  }
}

// With a window of 3, only the last three costs count.
TEST_F(RecurringJobTest, AWindowForgetsTheOldestRecurrences) {
  JobSpec spec = energy_job({8, 16}, 16);
  spec.window = 3;
  RecurringJob recurring = job(spec);
  EXPECT_FALSE(recurring.best_cost());
  const std::vector<std::pair<double, Joules>> costs = {{10, 10_J}, {20, 10_J}, {30, 10_J}, {40, 20_J},
                                                        {35, 30_J}, {50, 35_J}, {60, 35_J}, {70, 50_J}};
  std::uint64_t recurrence = 0;
  for (const auto& [cost, best] : costs) {
    recur(recurring, recurrence++, cost);
    EXPECT_EQ(recurring.best_cost(), best);
  }
}

TEST_F(RecurringJobTest, FiveFailuresEmptyTheWindow) {
  JobSpec spec = energy_job({8, 16}, 16);
  spec.window = 3;
  RecurringJob recurring = job(spec);
  for (const double cost : {10.0, 20.0, 30.0, 40.0}) {
    recur(recurring, 0, cost);
  }
  recur(recurring, 1, 95.0, 5);  // 100 J
  for (const auto& [cost, best] :
       std::vector<std::pair<double, Joules>>{{110, 100_J}, {120, 100_J}, {130, 110_J}, {140, 120_J}}) {
    recur(recurring, 2, cost);
    EXPECT_EQ(recurring.best_cost(), best);
  }
}

TEST_F(RecurringJobTest, NewDevicesHaveNoCostsYet) {
  for (const std::size_t window : {std::size_t{0}, std::size_t{2}}) {
    JobSpec spec = energy_job({8, 16}, 16);
    spec.window = window;
    RecurringJob recurring = job(spec);
    for (const double cost : {10.0, 20.0, 30.0}) {
      recur(recurring, 0, cost);
    }
    recurring.apply(profiled(1, {}, {}));
    recurring.apply(ended(0, 2, 16, 5.0, TryOutcome::stopped));
    recurring.apply(records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {250_W, 300_W}});
    EXPECT_FALSE(recurring.best_cost());
    EXPECT_FALSE(recurring.profiles().profiled(1));
    EXPECT_EQ(recurring.profiles().cost().max_power(), 300_W);
    EXPECT_EQ(recurring.spec().max_power, 300_W);
    EXPECT_EQ(recurring.spec().power_limits, (std::vector{250_W, 300_W}));
    static_cast<void>(recurring.next(2, 1));
    EXPECT_EQ(script_.asked->spent, 5_J) << "an open recurrence continues";
    for (const auto& [cost, best] :
         std::vector<std::pair<double, Joules>>{{50, 50_J}, {60, 50_J}, {70, window == 0 ? 50_J : 60_J}}) {
      recur(recurring, 3, cost);
      EXPECT_EQ(recurring.best_cost(), best);
    }
  }
}

TEST_F(RecurringJobTest, RefusesEventsOfAnotherJob) {
  RecurringJob recurring = job();
  EXPECT_THROW(recurring.apply(submitted(0, 0, 32)), Error);
  EXPECT_THROW(recurring.apply(ended(0, 0, 12, 1.0)), Error);
  records::LimitsProfiled other = profiled(0, 1_J, 1_s);
  other.batch_size = 9;
  EXPECT_THROW(recurring.apply(other), Error);
  EXPECT_TRUE(script_.events.empty());
  recurring.apply(records::RecurrenceAbandoned{.recurrence = 1});
  recurring.apply(records::DeviceChanged{.model = "other", .max_power = 300_W});
  recurring.apply(submitted(0, 0, 8));
  EXPECT_EQ(script_.events.size(), 3U) << "events without a batch size fit every job";
}

TEST_F(RecurringJobTest, ACopyIsIndependent) {
  RecurringJob original = job();
  recur(original, 0, 30.0);
  RecurringJob copy{original};
  EXPECT_EQ(copy.best_cost(), 30_J);
  recur(copy, 1, 20.0);
  EXPECT_EQ(original.best_cost(), 30_J);
  EXPECT_EQ(copy.best_cost(), 20_J);
  EXPECT_NE(&copy.policy(), &original.policy());
}

// If a job is restored at any point of its history, its later answers and its saved state are those of the original.
TEST_F(RecurringJobTest, ContinuesFromItsSavedState) {
  std::vector<records::JobEvent> history = {profiled(0, 3_J, 1_s),
                                            ended(0, 0, 16, 30.0),
                                            ended(1, 1, 16, 20.0),
                                            ended(2, 2, 16, 8.0, TryOutcome::stopped),
                                            ended(3, 3, 8, 8.0, TryOutcome::lost),
                                            ended(4, 4, 16, 50.0),
                                            ended(5, 5, 16, 25.0),
                                            records::RecurrenceAbandoned{.recurrence = 3},
                                            records::DeviceChanged{.model = "other", .max_power = 300_W},
                                            ended(6, 2, 16, 9.0, TryOutcome::stopped),
                                            ended(7, 6, 16, 60.0),
                                            ended(8, 7, 16, 70.0),
                                            ended(9, 8, 16, 80.0),
                                            ended(10, 9, 16, 90.0)};
  const auto saved = [](const RecurringJob& recurring) {
    StateWriter writer;
    recurring.save(writer);
    return writer.take();
  };
  for (const std::size_t window : {std::size_t{0}, std::size_t{2}}) {
    JobSpec spec = energy_job({8, 16}, 16);
    spec.window = window;
    for (std::size_t from = 0; from <= history.size(); ++from) {
      RecurringJob kept = job(spec);
      for (std::size_t event = 0; event < from; ++event) {
        kept.apply(history[event]);
      }
      RecurringJob restored = job(spec);
      const std::string text = saved(kept);
      StateReader reader{text};
      restored.restore(reader);
      EXPECT_TRUE(reader.done());
      for (std::size_t event = from; event < history.size(); ++event) {
        kept.apply(history[event]);
        restored.apply(history[event]);
        EXPECT_EQ(saved(restored), saved(kept));
        EXPECT_EQ(restored.best_cost(), kept.best_cost());
        EXPECT_EQ(run(restored, 2).limit, run(kept, 2).limit);
        EXPECT_EQ(run(restored, 2).budget, run(kept, 2).budget);
      }
      static_cast<void>(restored.next(2, 1));
      EXPECT_EQ(script_.asked->spent, 17_J);
      EXPECT_EQ(script_.asked->tries, 2);
      EXPECT_EQ(static_cast<const ScriptedPolicy&>(restored.policy()).told(), static_cast<int>(history.size()));
      EXPECT_EQ(restored.spec().max_power, 300_W);
    }
  }
}

}  // namespace
}  // namespace zeus::optimize
