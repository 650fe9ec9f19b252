#include "jobs/driver.hpp"

#include "tests/support/memory_store.hpp"
#include "tests/support/stored_jobs.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::jobs {
namespace {

using test::two_limit_v100;

records::JobDefinition two_size_job() {
  return {.batch_sizes = {16, 32},
          .default_batch_size = 32,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 3,
          .policy = "lookahead",
          .max_slowdown = {},
          .device = two_limit_v100()};
}

// Epochs of a second. Only a lucky batch size reaches a target. Limits are measured at once, except for a lucky one.
class ScriptedTry final : public Try {
 public:
  explicit ScriptedTry(VirtualClock& clock) : clock_{clock} {}

  void start(int batch_size, std::uint64_t seed) override {
    started.push_back(batch_size);
    seed_ = seed;
    begun_ = clock_.now();
    state_ = {};
    measured_.clear();
  }
  void hold(Watts limit) override { state_.limit = limit; }
  void leave() override { state_.limit.reset(); }
  void measure(const std::vector<Watts>& limits, const Known& known) override {
    references.push_back(known.reference ? std::optional{known.reference->limit} : std::nullopt);
    if (meanwhile) {
      std::exchange(meanwhile, {})();
    }
    state_.measuring = started.back() == lucky && !measures_while_lucky;
    state_.disturbed = state_.measuring && limits.size() > 1;
    if (limits.size() == 1) {
      state_.limit = limits.front();
    }
    for (const Watts limit : state_.measuring ? std::vector<Watts>{} : limits) {
      measured_.push_back({.limit = limit, .epoch_time = 1_s, .average_power = 100_W});
    }
  }
  std::vector<Event> go_on() override {
    if (state_.exit_code) {
      return {};
    }
    if (exits_with) {
      state_.exit_code = exits_with;
      state_.interrupted = is_interrupted;
      return {};
    }
    if (started.back() == lucky && state_.epochs == lucky_epochs) {
      state_.exit_code = 0;
      return {};
    }
    clock_.advance(1_s);
    state_.metric = started.back() == lucky && state_.epochs + 1 == lucky_epochs ? 0.95 : 0.1;
    return {MetricSeen{.value = *state_.metric}, EpochOver{.epochs = ++state_.epochs}};
  }
  void stop() override { state_.exit_code = 143; }
  State state() override { return state_; }
  std::vector<records::LimitProfile> measured() override { return measured_; }
  Taken taken_so_far() override {
    const Seconds time = clock_.now() - begun_;
    return {.gpus = {{.gpu = "GPU-0", .energy = {.value = 100_W * time, .uncertainty = {}, .systematic = {}}}},
            .time = time,
            .unknown = {}};
  }
  Taken close() override { return taken_so_far(); }

  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  std::vector<int> started;  // batch sizes
  std::vector<std::optional<Watts>> references;
  int lucky = 0;  // reaches the target in the last of its epochs
  int lucky_epochs = 1;
  bool measures_while_lucky = false;
  std::optional<int> exits_with;  // at once, without a metric
  bool is_interrupted = false;
  std::function<void()> meanwhile;  // called once, when limits are to be measured

 private:
  VirtualClock& clock_;
  Instant begun_;
  std::uint64_t seed_ = 0;
  State state_;
  std::vector<records::LimitProfile> measured_;
};

// Kept by a server that is away: the first questions that do not wait have no answer yet.
class LateRecurrence final : public KeptRecurrence {
 public:
  LateRecurrence(Job& job, Recurrence recurrence, int late) : KeptRecurrence{job, std::move(recurrence)}, late_{late} {}

  std::optional<Step> next(Wait wait) override { return is_late(wait) ? std::nullopt : KeptRecurrence::next(wait); }
  std::optional<records::TryStarted> claim(int batch_size, Wait wait) override {
    return is_late(wait) ? std::nullopt : KeptRecurrence::claim(batch_size, wait);
  }

 private:
  bool is_late(Wait wait) { return wait == Wait::no && late_-- > 0; }

  int late_;
};

class DriverTest : public testing::Test {
 protected:
  DriverEnd recur(const records::JobDefinition& of = two_size_job(), const std::string& name = "job", int late = 0) {
    Job job = Job::open(store_, site_, name, of);
    Driver driver{std::make_unique<LateRecurrence>(job, job.begin(of.device), late),
                  of.device,
                  training_,
                  {},
                  clock_,
                  tell_,
                  [](const Error&) { throw; }};
    return driver.run();
  }

  test::MemoryStore store_;
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  Site site_ = this_site(clock_, FileTree{});
  ScriptedTry training_{clock_};
  Driver::Tell tell_ = [](const DriverEvent&) {};
};

// Measuring the only limit changes nothing.
TEST_F(DriverTest, EpochsCountWhileOneLimitIsMeasuredButNotWhileSeveralAreCompared) {
  training_.lucky = 32;
  training_.lucky_epochs = 3;
  std::optional<records::WholeEpochs> whole;
  tell_ = [&](const DriverEvent& event) {
    if (const auto* over = std::get_if<TryJudged>(&event)) {
      whole = over->result.whole_epochs;
    }
  };
  records::JobDefinition two_limits = two_size_job();
  two_limits.policy = "zeus";
  EXPECT_EQ(recur(two_limits), DriverEnd::reached);
  EXPECT_EQ(whole, std::nullopt) << "limits were compared all the time";

  records::JobDefinition one_limit = two_limits;
  one_limit.device.power_limits = {250_W};
  EXPECT_EQ(recur(one_limit, "another"), DriverEnd::reached);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->count, 2) << "the first includes the start";
}

TEST_F(DriverTest, ARecurrenceThatIsGivenUpHasTheReason) {
  const auto reason = [this](int exit_code, bool interrupted) {
    training_.exits_with = exit_code;
    training_.is_interrupted = interrupted;
    EXPECT_EQ(recur(), DriverEnd::given_up);
    return Job::open(store_, site_, "job", two_size_job()).view().recurrences.back().reason;
  };
  EXPECT_EQ(reason(3, false), "the command ended with exit code 3");
  EXPECT_EQ(reason(0, false), "the command ended without reporting a metric");
  EXPECT_EQ(reason(0, true), "it was interrupted");
  EXPECT_EQ(reason(130, true), "it was interrupted");
}

TEST_F(DriverTest, ATargetOutOfReachCostsOneTrainingOfEachBatchSize) {
  std::vector<records::FailedTries> given_up;
  tell_ = [&](const DriverEvent& event) {
    if (const auto* step = std::get_if<records::FailedTries>(&event)) {
      given_up.push_back(*step);
    }
  };
  EXPECT_EQ(recur(), DriverEnd::missed);
  EXPECT_EQ(training_.started, (std::vector{32, 16}));
  ASSERT_EQ(given_up.size(), 1U);
  EXPECT_EQ(given_up[0].tries, 2);
  EXPECT_TRUE(given_up[0].never_reached);
}

TEST_F(DriverTest, ATrainingThatReachesTheTargetWhileItIsMeasuredIsTheTry) {
  std::vector<records::TryStarted> tries;
  std::vector<records::TryResult> over;
  tell_ = [&](const DriverEvent& event) {
    if (const auto* step = std::get_if<records::TryStarted>(&event)) {
      tries.push_back(*step);
    } else if (const auto* done = std::get_if<TryJudged>(&event)) {
      over.push_back(done->result);
    }
  };
  training_.lucky = 32;
  clock_.advance(1_s);
  EXPECT_EQ(recur(), DriverEnd::reached);
  EXPECT_EQ(training_.started, std::vector{32});
  ASSERT_EQ(tries.size(), 1U);
  EXPECT_EQ(tries[0].event.plan.batch_size, 32);
  EXPECT_EQ(tries[0].seed, training_.seed());
  EXPECT_EQ(tries[0].why, "it has reached the target while its limits were measured");
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, records::TryOutcome::reached);
  EXPECT_EQ(over[0].progress.time, 1_s);
}

TEST_F(DriverTest, ATrainingRunsOnWhileItsNextStepIsNotKnownYet) {
  std::vector<records::TryResult> over;
  tell_ = [&](const DriverEvent& event) {
    if (const auto* done = std::get_if<TryJudged>(&event)) {
      over.push_back(done->result);
    }
  };
  training_.lucky = 32;
  training_.measures_while_lucky = true;
  training_.lucky_epochs = 3;
  EXPECT_EQ(recur(two_size_job(), "late", 2), DriverEnd::reached);
  EXPECT_EQ(training_.started, std::vector{32});
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].progress.epochs, 3);
  EXPECT_EQ(over[0].progress.time, 3_s);
  EXPECT_EQ(over[0].whole_epochs, std::nullopt) << "two of three epochs ran before it was decided";
}

TEST_F(DriverTest, ATrainingThatEndsBeforeItsNextStepIsKnownIsJudgedOnceItIs) {
  std::vector<records::TryResult> over;
  tell_ = [&](const DriverEvent& event) {
    if (const auto* done = std::get_if<TryJudged>(&event)) {
      over.push_back(done->result);
    }
  };
  training_.lucky = 32;
  training_.measures_while_lucky = true;
  EXPECT_EQ(recur(two_size_job(), "later", 1000), DriverEnd::reached);
  EXPECT_EQ(training_.started, std::vector{32});
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, records::TryOutcome::reached);
  EXPECT_EQ(over[0].progress.epochs, 1);
}

// Limits are to be measured at 16. The answer that follows comes three epochs late, and is to run 32.
class ChangedRecurrence final : public KeptRecurrence {
 public:
  using KeptRecurrence::KeptRecurrence;

  std::optional<Step> next(Wait wait) override {
    if (asked_++ == 0) {
      return records::ProfileAsked{.batch_size = 16, .limits = two_limit_v100().power_limits};
    }
    if (wait == Wait::no && asked_ < 5) {
      return std::nullopt;
    }
    return records::TryStarted{
        .event = {.plan = {.batch_size = 32, .limit = two_limit_v100().power_limits.back(), .max_epochs = 3}}};
  }
  void profiled(const records::LimitsMeasured& /*measured*/) override {}
  void epochs(const records::TryProgress& /*progress*/) override {}
  void finished(const records::TryResult& /*result*/) override { over_ = true; }
  [[nodiscard]] bool over() const override { return over_; }

 private:
  int asked_ = 0;
  bool over_ = false;
};

TEST_F(DriverTest, WhatATrainingDidBeforeALateAnswerDoesNotCountForTheNextTraining) {
  training_.lucky = 32;
  training_.lucky_epochs = 2;
  training_.measures_while_lucky = true;
  Job job = Job::open(store_, site_, "job", two_size_job());
  std::vector<records::TryResult> over;
  Driver driver{std::make_unique<ChangedRecurrence>(job, job.begin(two_limit_v100())),
                two_limit_v100(),
                training_,
                {},
                clock_,
                [&](const DriverEvent& event) {
                  if (const auto* done = std::get_if<TryJudged>(&event)) {
                    over.push_back(done->result);
                  }
                },
                [](const Error&) { throw; }};
  EXPECT_EQ(driver.run(), DriverEnd::reached);
  EXPECT_EQ(training_.started, (std::vector{16, 32}));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, records::TryOutcome::reached);
  EXPECT_EQ(over[0].progress.epochs, 2);
}

// Without epochs, limits of different nights are compared through one that is measured in both.
TEST_F(DriverTest, WithoutATargetLimitsAreMeasuredBesideAKnownOne) {
  records::JobDefinition alone = two_size_job();
  alone.batch_sizes = {};
  alone.default_batch_size = 0;
  alone.target.reset();
  training_.lucky = 1;
  training_.measures_while_lucky = true;
  for (int night = 0; night < 2; ++night) {
    EXPECT_EQ(recur(alone), DriverEnd::reached);
    clock_.advance(60_s);
  }
  ASSERT_GE(training_.references.size(), 2U);
  EXPECT_FALSE(training_.references.front()) << "nothing is known yet";
  EXPECT_EQ(training_.references.back(), 250_W);
}

// It has missed at 32 and begins to measure 16. Meanwhile another recurrence misses at 16 and is interrupted. The
// policy then prefers neither, and the default comes first.
TEST_F(DriverTest, ATrainingThatOthersMadeUselessWhileItWasMeasuredIsEnded) {
  const auto miss_elsewhere = [this] {
    Job job = Job::open(store_, site_, "job", two_size_job());
    Recurrence other = job.begin(two_limit_v100());
    Step step = other.next();
    while (!std::holds_alternative<records::TryStarted>(step)) {
      step = other.next();
    }
    EXPECT_EQ(std::get<records::TryStarted>(step).event.plan.batch_size, 16);
    other.finished({.outcome = records::TryOutcome::exhausted,
                    .progress = {.epochs = 3, .gpus = training_.taken_so_far().gpus, .time = 3_s}});
  };
  tell_ = [&](const DriverEvent& event) {
    if (std::holds_alternative<TryJudged>(event)) {
      training_.meanwhile = miss_elsewhere;
    }
  };
  EXPECT_EQ(recur(), DriverEnd::missed);
  EXPECT_EQ(training_.started, (std::vector{32, 16}));
  EXPECT_TRUE(training_.state().exit_code) << "it does not run on";
}

}  // namespace
}  // namespace zeus::jobs
