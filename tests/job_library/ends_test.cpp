// How recurrences of zeus::Job end: their record, however the program went on.
#include "course.hpp"
#include "told_job.hpp"

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "jobs/job.hpp"
#include "store/open_store.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>
#include <zeus/job.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace zeus {
namespace {

namespace course = test::course;
using records::RecurrenceState;
using records::TryOutcome;
using namespace literals;

class JobEnds : public testing::Test {
 protected:
  [[nodiscard]] Job open(const JobDefinition& definition = test::told_definition()) const {
    return Job{"course", definition, test::told_options(store_)};
  }
  [[nodiscard]] records::JobView view() {
    const auto store = store::open_store(store_.string(), store::Access::existing, clock_);
    return jobs::Job::find(*store, jobs::this_site(clock_, FileTree{}), "course")->view();
  }
  // In a separate process, which ends as `body` does.
  static int in_a_child(const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path store_ = folder_.path() / "jobs.sqlite";
  SystemClock clock_;
};

TEST_F(JobEnds, ARecurrenceWhoseJobIsDestroyedIsGivenUpAndItsTryLost) {
  {
    Job job = open(test::told_definition("zeus"));
    const std::optional<Try> attempt = job.next_try();
    const Job gone = std::move(job);
  }
  const records::JobView after = view();
  ASSERT_EQ(after.recurrences.size(), 1U);
  EXPECT_EQ(after.recurrences[0].state, RecurrenceState::given_up);
  ASSERT_EQ(after.tries.size(), 1U);
  EXPECT_EQ(after.tries[0].outcome, TryOutcome::lost);
}

TEST_F(JobEnds, AnExceptionIsToATryWhatACrashIsToACommand) {
  Job job = open(test::told_definition("zeus"));
  EXPECT_THROW(
      {
        const std::optional<Try> attempt = job.next_try();
        throw std::runtime_error{"out of memory"};
      },
      std::runtime_error);
  EXPECT_EQ(job.next_try().has_value(), false) << "no try has ever worked: a person has to look at it";
  EXPECT_FALSE(job.reached());
  const records::JobView after = view();
  EXPECT_EQ(after.recurrences.at(0).state, RecurrenceState::given_up);
  EXPECT_EQ(after.tries.at(0).outcome, TryOutcome::lost);
  EXPECT_EQ(after.tries.at(0).exit_code, 1);
}

TEST_F(JobEnds, ABatchSizeThatFailsWhereOthersHaveWorkedHasMissedTheTargetAndAnotherOneIsTried) {
  Job job = open();
  test::recur(job);
  ASSERT_TRUE(job.reached());
  bool failed = false;
  for (int i = 0; i < 8 && !failed; ++i) {
    while (std::optional<Try> attempt = job.next_try()) {
      if (attempt->batch_size() == 16) {
        failed = true;
        attempt->took(Seconds{5}, test::exactly(Joules{500}));
        attempt->fail();
      } else {
        test::train(*attempt);
      }
    }
    EXPECT_TRUE(job.reached()) << "recurrence " << i;
  }
  ASSERT_TRUE(failed);
  const records::JobView after = view();
  const auto missed = std::ranges::find(after.tries, 16, &records::TryView::batch_size);
  ASSERT_NE(missed, after.tries.end());
  EXPECT_EQ(missed->outcome, TryOutcome::exhausted);
  EXPECT_EQ(missed->energy->value, Joules{500});
}

TEST_F(JobEnds, ATryThatReachedItsTargetIsRecordedWithoutAnotherCall) {
  {
    Job job = open(test::told_definition("zeus"));
    std::optional<Try> attempt = job.next_try();
    ASSERT_TRUE(attempt->next_epoch());
    attempt->took(Seconds{50}, test::exactly(Joules{5000}));
    attempt->report(course::target);
    const Job gone = std::move(job);
  }
  const records::JobView after = view();
  EXPECT_EQ(after.tries.at(0).outcome, TryOutcome::reached);
  EXPECT_EQ(after.tries.at(0).epochs, 1);
  EXPECT_EQ(after.recurrences.at(0).energy, Joules{5000});
}

TEST_F(JobEnds, WithoutATargetATrainingThatComesToItsEndHasReachedIt) {
  JobDefinition definition;
  definition.max_epochs = 3;
  JobOptions options = test::told_options(store_);
  options.elsewhere->power_limits = {course::max_power};
  Job job{"course", definition, options};
  std::optional<Try> attempt = job.next_try();
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->max_epochs(), 3);
  EXPECT_EQ(attempt->batch_size(), 1);
  int epochs = 0;
  for ([[maybe_unused]] const auto epoch : attempt->epochs()) {
    ++epochs;
    attempt->took(Seconds{50}, test::exactly(Joules{5000}));
  }
  EXPECT_EQ(epochs, 3);
  EXPECT_FALSE(job.next_try());
  EXPECT_TRUE(job.reached());
  EXPECT_EQ(view().tries.at(0).epochs, 3);
}

TEST_F(JobEnds, ATargetOutOfReachIsMissedOnceAtEachBatchSize) {
  JobDefinition definition = test::told_definition();
  definition.batch_sizes = {128};
  definition.default_batch_size = 128;
  Job job = open(definition);
  test::recur(job);
  EXPECT_FALSE(job.reached());
  const records::JobView after = view();
  EXPECT_EQ(after.tries.size(), 1U);
  EXPECT_EQ(after.tries.at(0).outcome, TryOutcome::exhausted);
  EXPECT_EQ(after.recurrences.at(0).state, RecurrenceState::given_up);
}

// The epochs of the first night took twice as long as those of the second, at twice the power.
TEST_F(JobEnds, ReportedLimitsAreKeptInRelationToOneOfAnotherNight) {
  JobDefinition definition;
  definition.max_epochs = 3;
  std::vector<std::vector<Watts>> asked;
  const auto recur = [&](const std::vector<LimitProfile>& measured) {
    Job job{"course", definition, test::told_options(store_)};
    while (std::optional<Try> attempt = job.next_try()) {
      while (attempt->next_epoch()) {
        if (const std::vector<Watts> limits = attempt->limits_to_measure(); !limits.empty()) {
          asked.push_back(limits);
          std::vector<LimitProfile> reported;
          std::ranges::copy_if(measured, std::back_inserter(reported), [&](const LimitProfile& one) {
            return std::ranges::find(limits, one.limit) != limits.end();
          });
          attempt->measured(reported);
        }
        attempt->took(40_s, test::exactly(8000_J));
      }
    }
  };
  recur({{.limit = 250_W, .epoch_time = 40_s, .average_power = 200_W}});
  ASSERT_EQ(asked, (std::vector<std::vector<Watts>>{{250_W}, {100_W, 175_W}}));
  recur({{.limit = 100_W, .epoch_time = 30_s, .average_power = 60_W},
         {.limit = 175_W, .epoch_time = 22_s, .average_power = 80_W},
         {.limit = 250_W, .epoch_time = 20_s, .average_power = 100_W}});
  EXPECT_EQ(asked.back(), (std::vector<Watts>{100_W, 175_W, 250_W}));
  const std::vector<LimitProfile> known = view().arms.at(0).limits;
  ASSERT_EQ(known.size(), 3U);
  for (const auto& [at, time, power] : {std::tuple{0U, 60_s, 120_W}, {1U, 44_s, 160_W}, {2U, 40_s, 200_W}}) {
    EXPECT_NEAR(known[at].epoch_time.value(), time.value(), 1e-9);
    EXPECT_NEAR(known[at].average_power.value(), power.value(), 1e-9);
  }
}

TEST_F(JobEnds, AnUnreportedEnergyTeachesNothing) {
  Job job = open(test::told_definition("zeus"));
  std::optional<Try> attempt = job.next_try();
  ASSERT_TRUE(attempt->next_epoch());
  attempt->took(Seconds{50}, std::nullopt);
  attempt->report(course::target);
  EXPECT_FALSE(attempt->next_epoch());
  attempt.reset();
  EXPECT_TRUE(view().tries.at(0).left_out.has_value());
  EXPECT_FALSE(job.summary().savings);
  EXPECT_FALSE(job.summary().savings_unknown.empty());
}

TEST_F(JobEnds, WhatAProcessThatWasKilledLeftIsFoundAndGivenUp) {
  const int status = in_a_child([this] {
    Job job = open(test::told_definition("zeus"));
    const std::optional<Try> attempt = job.next_try();
    ::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(view().recurrences.at(0).state, RecurrenceState::running);
  Job job = open(test::told_definition("zeus"));
  const std::optional<Try> attempt = job.next_try();
  ASSERT_TRUE(attempt);
  const records::JobView after = view();
  EXPECT_EQ(after.recurrences.at(0).state, RecurrenceState::given_up);
  EXPECT_NE(after.recurrences.at(0).reason.find("is gone"), std::string::npos) << after.recurrences.at(0).reason;
  EXPECT_EQ(after.tries.at(0).outcome, TryOutcome::lost);
  EXPECT_EQ(after.recurrences.at(1).state, RecurrenceState::running);
}

TEST_F(JobEnds, AForkedChildHasNoPartInItsParentsJob) {
  std::optional<Job> job = open(test::told_definition("zeus"));
  std::optional<Try> attempt = job->next_try();
  const int status = in_a_child([&] {
    try {
      (void)attempt->next_epoch();
      ::_exit(1);
    } catch (const Error&) {
      attempt.reset();
      job.reset();
    }
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(view().recurrences.at(0).state, RecurrenceState::running);
  test::train(*attempt);
  attempt.reset();
  test::recur(*job);
  EXPECT_TRUE(job->reached());
}

}  // namespace
}  // namespace zeus
