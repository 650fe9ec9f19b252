#include "jobs/redefinition.hpp"

#include "jobs/job.hpp"
#include "jobs/transfer.hpp"
#include "store/open_store.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace zeus::jobs {
namespace {

using test::two_limit_v100;

records::JobDefinition as_it_began() {
  return {.batch_sizes = {16, 32, 64},
          .default_batch_size = 32,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 50,
          .policy = "zeus",
          .max_slowdown = {},
          .learning_rate = "32:0.1 linear",
          .device = two_limit_v100()};
}

class RedefinitionTest : public testing::Test {
 protected:
  RedefinitionTest() { learn(job_, 12); }

  Job open(const records::JobDefinition& definition) {
    return Job::open(*store_, this_site(clock_, FileTree{}), "job", definition);
  }
  // Recurrences whose tries reach the target after 10 epochs, except at batch size 64, which misses.
  static void learn(Job& job, int nights) {
    for (int night = 0; night < nights; ++night) {
      Recurrence recurrence = job.begin(two_limit_v100());
      while (!recurrence.over()) {
        const Step step = recurrence.next();
        if (const auto* const profile = std::get_if<records::ProfileAsked>(&step)) {
          recurrence.profiled({.batch_size = profile->batch_size, .limits = limits(), .charged = {}, .time = {}});
          continue;
        }
        const records::TryPlan& run = std::get<records::TryStarted>(step).event.plan;
        if (job.limits(run.batch_size).empty()) {
          recurrence.profiled({.batch_size = run.batch_size, .limits = limits(), .charged = {}, .time = {}});
        }
        const bool misses = run.batch_size == 64;
        recurrence.finished(
            {.outcome = misses ? records::TryOutcome::exhausted : records::TryOutcome::reached,
             .progress = {.epochs = misses ? job.definition().max_epochs : 10,
                          .gpus = {{.gpu = "GPU-0", .energy = {.value = 1000_J, .uncertainty = 1_J, .systematic = {}}}},
                          .time = 100_s},
             .limit = 250_W,
             .exit_code = 0});
      }
    }
  }
  static std::vector<records::LimitProfile> limits() {
    return {{.limit = 100_W, .epoch_time = 14_s, .average_power = 90_W},
            {.limit = 250_W, .epoch_time = 10_s, .average_power = 200_W}};
  }

  // What is known of a batch size; nothing if the job does not have it.
  struct Known {
    bool limits = false;
    bool cost = false;
    friend bool operator==(const Known&, const Known&) = default;
  };
  std::optional<Known> known(int batch_size) {
    for (const records::ArmView& arm : job_.view().arms) {
      if (arm.batch_size == batch_size) {
        return Known{.limits = arm.limits.size() == 2, .cost = arm.expected_cost.has_value()};
      }
    }
    return std::nullopt;
  }
  std::string shown() { return to_json(job_.view()); }

  test::TemporaryFolder folder_;
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  std::unique_ptr<store::JobStore> store_ =
      store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
  Job job_ = open(as_it_began());
};

struct Changed {
  std::string key;
  std::function<void(records::JobDefinition&)> change;
  bool keeps_limits = true;  // of the default batch size
  bool keeps_costs = true;
};

const std::vector<Changed>& changes() {
  static const std::vector<Changed> all{
      {"batch_sizes",
       [](auto& job) {
         job.batch_sizes = {32, 48, 64};
       }},
      {"default_batch_size", [](auto& job) { job.default_batch_size = 16; }},
      {"target_metric", [](auto& job) { job.target->metric = 0.95; }, true, false},
      {"max_epochs", [](auto& job) { job.max_epochs = 60; }},
      {"eta", [](auto& job) { job.eta = 1.0; }},
      {"beta", [](auto& job) { job.beta = 3.0; }},
      {"window", [](auto& job) { job.window = 5; }},
      {"policy", [](auto& job) { job.policy = "lookahead"; }},
      {"pruning_rounds", [](auto& job) { job.zeus = records::ZeusChoices{.pruning_rounds = 1}; }},
      {"explorations", [](auto& job) { job.zeus = records::ZeusChoices{.explorations = 4}; }},
      {"prior_cost_j", [](auto& job) { job.zeus = records::ZeusChoices{.prior_cost = Joules{2.0}}; }},
      {"prior_precision", [](auto& job) { job.zeus = records::ZeusChoices{.prior_precision = 0.5}; }},
      {"seed", [](auto& job) { job.seed = 9; }},
      {"max_slowdown", [](auto& job) { job.max_slowdown = 1.1; }},
      {"learning_rate", [](auto& job) { job.learning_rate = "32:0.2 linear"; }, true, false},
  };
  return all;
}

TEST_F(RedefinitionTest, AnotherDefinitionIsRefusedWithItsEffectAndTheCommandToRedefine) {
  for (const Changed& one : changes()) {
    SCOPED_TRACE(one.key);
    records::JobDefinition other = as_it_began();
    one.change(other);
    try {
      open(other);
      ADD_FAILURE() << "it was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::conflict);
      EXPECT_NE(error.advice().find("`zeus jobs job redefine --set '" + one.key + " = "), std::string::npos)
          << error.advice();
      ASSERT_FALSE(what_follows(one.key).empty());
      EXPECT_NE(error.advice().find(what_follows(one.key)), std::string::npos);
    }
  }
}

TEST_F(RedefinitionTest, TheNamedCommandIsQuotedForAShell) {
  const std::string name = "bert's night";
  Job::open(*store_, this_site(clock_, FileTree{}), name, as_it_began());
  records::JobDefinition other = as_it_began();
  other.eta = 1.0;
  try {
    Job::open(*store_, this_site(clock_, FileTree{}), name, other);
    ADD_FAILURE() << "it was not refused";
  } catch (const Error& error) {
    EXPECT_NE(error.advice().find(R"(`zeus jobs 'bert'\''s night' redefine --set 'eta = 1'`)"), std::string::npos)
        << error.advice();
  }
}

TEST_F(RedefinitionTest, EachKeyKeepsWhatStaysTrueAndChangingBackRestoresTheRest) {
  ASSERT_EQ(known(32), (Known{.limits = true, .cost = true}));
  for (const Changed& one : changes()) {
    SCOPED_TRACE(one.key);
    records::JobDefinition other = as_it_began();
    one.change(other);
    const std::string before = job_.view().next.why;
    const auto told = job_.redefine(other);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front().key, one.key);
    EXPECT_EQ(job_.definition(), other);
    EXPECT_EQ(known(32), (Known{.limits = one.keeps_limits, .cost = one.keeps_costs}));
    EXPECT_EQ(open(other).definition(), other) << "and runs with its new definition";
    EXPECT_EQ(job_.redefine(as_it_began()).size(), 1U);
    EXPECT_EQ(known(32), (Known{.limits = true, .cost = true}));
    EXPECT_EQ(job_.view().next.why, before);
  }
}

TEST_F(RedefinitionTest, RemainingBatchSizesAreKnownAndNewOnesAreNot) {
  records::JobDefinition other = as_it_began();
  other.batch_sizes = {32, 48};
  job_.redefine(other);
  EXPECT_EQ(known(32), (Known{.limits = true, .cost = true}));
  EXPECT_EQ(known(48), (Known{.limits = false, .cost = false}));
  EXPECT_EQ(known(16), std::nullopt);
  EXPECT_EQ(job_.view().tries.size(), 13U) << "the history has them all";
  learn(job_, 3);
  EXPECT_EQ(job_.view().recurrences.size(), 15U);
}

TEST_F(RedefinitionTest, ATryThatMissedWithinFewerEpochsDoesNotCountAgainstItsBatchSize) {
  const auto missed = [this] {
    const auto& spec = job_.spec();
    return spec.max_epochs;
  };
  EXPECT_EQ(missed(), 50);
  records::JobDefinition other = as_it_began();
  other.max_epochs = 60;
  const records::TryFinished exhausted{
      .batch_size = 64,
      .energy = {},
      .result = {.outcome = records::TryOutcome::exhausted, .progress = {.epochs = 50}}};
  const auto left_out = [&](const records::TryFinished& finished, int max_epochs) {
    other.max_epochs = max_epochs;
    const auto still = still_true(finished, as_it_began(), other);
    return std::get<records::TryFinished>(still.value()).result.left_out.has_value();
  };
  EXPECT_TRUE(left_out(exhausted, 60)) << "it might have reached the target in ten more";
  EXPECT_FALSE(left_out(exhausted, 40));
  records::TryFinished crashed = exhausted;
  crashed.result.progress.epochs = 0;
  EXPECT_FALSE(left_out(crashed, 60)) << "more epochs would not have helped it";
  records::TryFinished reached = exhausted;
  reached.result.outcome = records::TryOutcome::reached;
  EXPECT_FALSE(left_out(reached, 60));
  EXPECT_TRUE(left_out(reached, 40)) << "it would have missed";
}

TEST_F(RedefinitionTest, NothingStaysIfATrainingCountedAsOneEpoch) {
  records::JobDefinition other = as_it_began();
  other.max_epochs = 1;
  job_.redefine(other);
  EXPECT_EQ(known(32), (Known{.limits = false, .cost = false}));
}

TEST_F(RedefinitionTest, ARunningJobIsNotRedefined) {
  records::JobDefinition other = as_it_began();
  other.eta = 1.0;
  const Recurrence running = job_.begin(two_limit_v100());
  try {
    job_.redefine(other);
    ADD_FAILURE() << "it was redefined";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
  }
  EXPECT_EQ(job_.definition(), as_it_began());
}

TEST_F(RedefinitionTest, ARedefinitionWithoutChangesAddsNoEntry) {
  const std::uint64_t entries = job_.view().entries;
  EXPECT_TRUE(job_.redefine(as_it_began()).empty());
  EXPECT_EQ(job_.view().entries, entries);
}

TEST_F(RedefinitionTest, ContinuesWithOrWithoutASnapshotAndThroughAnExport) {
  records::JobDefinition other = as_it_began();
  other.policy = "lookahead";
  other.batch_sizes = {16, 32};
  job_.redefine(other);
  learn(job_, 30);
  const std::string whole = shown();
  const std::string next = Job::find(*store_, this_site(clock_, FileTree{}), "job")->view().next.why;
  store_->drop_snapshots();
  Job fresh = open(other);
  EXPECT_EQ(to_json(fresh.view()), whole);
  const std::string text = export_job(*store_, "job");
  import_job(*store_, this_site(clock_, FileTree{}), "copy", text);
  EXPECT_EQ(Job::find(*store_, this_site(clock_, FileTree{}), "copy")->view().next.why, next);
  learn(fresh, 1);
  learn(job_, 1);
}

TEST_F(RedefinitionTest, LearnsFromThePartOfALongHistoryThatIsKept) {
  learn(job_, 180);
  records::JobDefinition other = as_it_began();
  other.policy = "lookahead";
  job_.redefine(other);
  EXPECT_EQ(known(32), (Known{.limits = true, .cost = true}));
  Job again = open(other);
  EXPECT_EQ(again.preview().index(), job_.preview().index());
}

}  // namespace
}  // namespace zeus::jobs
