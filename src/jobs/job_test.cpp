#include "jobs/job.hpp"

#include "store/open_store.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace zeus::jobs {
namespace {

using test::two_limit_v100;

records::JobDefinition nightly_job() {
  return {.batch_sizes = {32, 16, 64},
          .default_batch_size = 32,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 50,
          .policy = "lookahead",
          .max_slowdown = {},
          .device = two_limit_v100()};
}

records::GpuEnergy measured_energy(double energy) {
  return {.gpu = "GPU-0", .energy = {.value = Joules{energy}, .uncertainty = 1_J, .systematic = {}}};
}

records::TryResult ended(records::TryOutcome outcome, int epochs) {
  return {.outcome = outcome,
          .progress = {.epochs = epochs, .gpus = {measured_energy(1000.0 * epochs)}, .time = Seconds{10.0 * epochs}},
          .limit = 250_W,
          .exit_code = 0};
}

// The epochs of a try of ten, under one limit from its start on, with nothing beside them.
records::WholeEpochs whole(Watts limit) {
  return {.limit = limit,
          .count = 9,
          .time = 90_s,
          .energy = 9000_J,
          .time_deviation = {},
          .energy_deviation = {},
          .start_time = Seconds{},
          .start_energy = Joules{}};
}

class JobTest : public testing::Test, protected test::Failures {
 protected:
  // A process of this machine, as listed in its /proc.
  Site site_of(std::int64_t pid, std::uint64_t started, const std::string& place = "boot pid:[1]") {
    return {.clock = clock_,
            .machine = machine_,
            .owner = {.host = "node", .place = place, .process = {.pid = pid, .started = started, .command = "zeus"}}};
  }
  void put_process(std::int64_t pid, std::uint64_t started) {
    machine_.write_durably(
        fmt::format("proc/{}/stat", pid),
        fmt::format("{} (zeus) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 {} 20\n", pid, started));
  }
  std::unique_ptr<store::JobStore> open() { return store::open_store(file(), store::Access::create, clock_); }
  [[nodiscard]] std::string file() const { return (folder_.path() / "jobs.sqlite").string(); }

  // Measures the requested limits and returns the try to run.
  static records::TryStarted next_run(Recurrence& recurrence) {
    while (true) {
      const Step step = recurrence.next();
      if (const auto* run = std::get_if<records::TryStarted>(&step)) {
        return *run;
      }
      const auto& profile = std::get<records::ProfileAsked>(step);
      std::vector<records::LimitProfile> limits;
      for (const Watts limit : profile.limits) {
        limits.push_back(
            {.limit = limit, .epoch_time = Seconds{200'000.0 / limit.value()}, .average_power = limit * 0.9});
      }
      recurrence.profiled(
          {.batch_size = profile.batch_size, .limits = limits, .charged = {measured_energy(50)}, .time = 1_s});
    }
  }

  test::TemporaryFolder folder_;
  FileTree machine_{folder_.path() / "machine"};
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  std::unique_ptr<store::JobStore> store_ = open();
};

TEST_F(JobTest, RunsUntilOneTryReachesTheTarget) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  const records::TryStarted first = next_run(recurrence);
  EXPECT_EQ(first.event.plan.batch_size, 32);
  EXPECT_EQ(first.event.try_number, 0U);
  recurrence.epochs({.epochs = 3, .metric = 0.5, .gpus = {measured_energy(3000)}, .time = 30_s});
  recurrence.finished(ended(records::TryOutcome::stopped, 20));
  EXPECT_FALSE(recurrence.over());
  const records::TryStarted second = next_run(recurrence);
  EXPECT_EQ(second.event.try_number, 1U);
  EXPECT_NE(second.seed, first.seed);
  recurrence.finished(ended(records::TryOutcome::reached, 10));
  EXPECT_TRUE(recurrence.over());
  EXPECT_EQ(failure_of([&] { recurrence.next(); }).kind(), ErrorKind::conflict);
  const records::JobView view = job.view();
  ASSERT_EQ(view.recurrences.size(), 1U);
  EXPECT_EQ(view.recurrences[0].state, records::RecurrenceState::reached);
  EXPECT_GT(view.recurrences[0].energy, Joules{30'000}) << "failed tries and charged profiling count too";
  EXPECT_EQ(view.recurrences[0].tries, 2);
}

// Runs a recurrence that misses as often as allowed and returns the batch sizes it tries; checks what ends it.
std::vector<int> miss(Job& job, const std::function<records::TryStarted(Recurrence&)>& next_run, std::size_t times,
                      const std::optional<std::string>& left_out = {}) {
  Recurrence recurrence = job.begin(two_limit_v100());
  std::vector<int> tried;
  for (std::size_t time = 0; time < times; ++time) {
    tried.push_back(next_run(recurrence).event.plan.batch_size);
    records::TryResult missed = ended(records::TryOutcome::exhausted, 50);
    missed.left_out = left_out;
    recurrence.finished(missed);
  }
  const Step step = recurrence.next();
  const auto* const given_up = std::get_if<records::FailedTries>(&step);
  EXPECT_TRUE(given_up != nullptr && given_up->tries == static_cast<int>(times));
  EXPECT_EQ(recurrence.over(), given_up != nullptr);
  return tried;
}

TEST_F(JobTest, IfNothingEverReachedTheTargetNoBatchSizeIsTriedTwiceInARecurrence) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  EXPECT_EQ(miss(job, next_run, 3), (std::vector{32, 16, 64}));
  EXPECT_EQ(miss(job, next_run, 3), (std::vector{32, 16, 64})) << "each recurrence starts over";
  EXPECT_EQ(job.view().recurrences.back().state, records::RecurrenceState::given_up);
  EXPECT_EQ(job.view().recurrences.back().reason, "it missed the target, which has never been reached");
  records::JobDefinition as_published = nightly_job();
  as_published.policy = "zeus";
  Job other = Job::open(*store_, site_of(1, 7), "other", as_published);
  EXPECT_EQ(miss(other, next_run, 2), (std::vector{32, 64})) << "it prunes sizes below a default that missed";
  EXPECT_EQ(miss(other, next_run, 1), (std::vector{32}));
}

TEST_F(JobTest, MissesThatAreLeftOutAreNotRepeated) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  EXPECT_EQ(miss(job, next_run, 1, "another process held the GPU's limit"), (std::vector{32}));
}

TEST_F(JobTest, ABatchSizeThatReachedTheTargetIsTriedAgainUntilTheTargetChanges) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  {
    Recurrence recurrence = job.begin(two_limit_v100());
    next_run(recurrence);
    records::TryResult shared = ended(records::TryOutcome::reached, 3);
    shared.left_out = "another process held the GPU's limit";
    recurrence.finished(shared);
  }
  EXPECT_EQ(miss(job, next_run, 20).size(), 20U);
  records::JobDefinition harder = nightly_job();
  harder.target->metric = 0.99;
  job.redefine(harder);
  EXPECT_EQ(miss(job, next_run, 3), (std::vector{32, 16, 64}));
  job.redefine(nightly_job());
  EXPECT_EQ(miss(job, next_run, 20).size(), 20U);
}

// The policy asks about 32 and would run it next; meanwhile a training at 16 has reached the target.
TEST_F(JobTest, ATrainingIsClaimedWhateverTheNextStepWouldHaveBeen) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  EXPECT_EQ(std::get<records::ProfileAsked>(recurrence.next()).batch_size, 32);
  const std::uint64_t seed = job.seed_of_next_try();
  const records::TryStarted step = recurrence.claim(16);
  EXPECT_EQ(step.event.plan.batch_size, 16);
  EXPECT_EQ(step.seed, seed);
  EXPECT_EQ(failure_of([&] { recurrence.claim(16); }).kind(), ErrorKind::invalid_argument) << "it is running";
  recurrence.finished(ended(records::TryOutcome::reached, 10));
  const records::JobView view = job.view();
  EXPECT_EQ(view.recurrences.at(0).state, records::RecurrenceState::reached);
  EXPECT_EQ(view.tries.at(0).batch_size, 16);
  EXPECT_EQ(view.arms.at(0).reached, 1);
}

TEST_F(JobTest, RefusesCallsOutOfOrder) {
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  put_process(1, 7);
  Recurrence recurrence = job.begin(two_limit_v100());
  EXPECT_EQ(failure_of([&] { recurrence.finished(ended(records::TryOutcome::reached, 1)); }).kind(),
            ErrorKind::invalid_argument);
  next_run(recurrence);
  EXPECT_EQ(failure_of([&] { recurrence.next(); }).kind(), ErrorKind::invalid_argument);
  records::TryResult unknown = ended(records::TryOutcome::reached, 1);
  unknown.progress.gpus.clear();
  EXPECT_EQ(failure_of([&] { recurrence.finished(unknown); }).kind(), ErrorKind::invalid_argument);
  records::TryResult absurd = ended(records::TryOutcome::reached, 1);
  absurd.progress.time = Seconds{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(failure_of([&] { recurrence.finished(absurd); }).kind(), ErrorKind::invalid_argument);
  recurrence.finished(ended(records::TryOutcome::reached, 1));
}

TEST_F(JobTest, RefusesAnotherDefinitionAndNamesTheDifferences) {
  Job::open(*store_, site_of(1, 7), "job", nightly_job());
  records::JobDefinition same = nightly_job();
  same.batch_sizes = {64, 32, 16};
  same.device.model = "A100";
  EXPECT_EQ(Job::open(*store_, site_of(1, 7), "job", same).definition().batch_sizes, (std::vector{16, 32, 64}));
  records::JobDefinition other = nightly_job();
  other.eta = 0.75;
  other.batch_sizes = {16, 32};
  const Error error = failure_of([&] { Job::open(*store_, site_of(1, 7), "job", other); });
  EXPECT_EQ(error.kind(), ErrorKind::conflict);
  EXPECT_NE(error.message().find("batch sizes are 16,32,64, not 16,32; its eta is 0.5, not 0.75"), std::string::npos)
      << error.what();
  EXPECT_NE(error.advice().find("forget"), std::string::npos);
}

TEST_F(JobTest, RefusesImpossibleJobs) {
  const auto refused = [this](const std::string& name, const records::JobDefinition& what) {
    return failure_of([&] { Job::open(*store_, site_of(1, 7), name, what); }).kind();
  };
  EXPECT_EQ(refused("", nightly_job()), ErrorKind::invalid_argument);
  EXPECT_EQ(refused("a\nb", nightly_job()), ErrorKind::invalid_argument);
  EXPECT_EQ(refused(std::string(300, 'n'), nightly_job()), ErrorKind::invalid_argument);
  for (const auto& change : std::vector<std::function<void(records::JobDefinition&)>>{
           [](auto& job) { job.default_batch_size = 17; }, [](auto& job) { job.eta = 2.0; },
           [](auto& job) { job.policy = "guess"; }, [](auto& job) { job.device.power_limits.clear(); },
           [](auto& job) { job.device.gpus = 0; }, [](auto& job) { job.max_slowdown = 0.5; },
           [](auto& job) { job.device.max_power = {}; }}) {
    records::JobDefinition wrong = nightly_job();
    change(wrong);
    EXPECT_EQ(refused("job", wrong), ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(store_->names().empty());
}

TEST_F(JobTest, AJobWithoutBatchSizesChoosesThePowerLimitAlone) {
  put_process(1, 7);
  records::JobDefinition alone = nightly_job();
  alone.batch_sizes.clear();
  alone.target.reset();
  alone.max_epochs = 1;
  Job job = Job::open(*store_, site_of(1, 7), "job", alone);
  std::optional<Watts> limit;
  for (int night = 0; night < 4; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    const records::TryStarted run = next_run(recurrence);
    EXPECT_EQ(run.event.plan.batch_size, 1);
    recurrence.finished(ended(records::TryOutcome::reached, 1));
    limit = run.event.plan.limit;
  }
  EXPECT_EQ(job.limits(1).size(), 2U);
  EXPECT_EQ(limit, job.view().arms.at(0).best_limit);
}

TEST_F(JobTest, GivesUpRecurrencesOfADeadOwnerOnThisMachine) {
  put_process(1, 7);
  put_process(2, 7);
  Job dead = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence left = dead.begin(two_limit_v100());
  next_run(left);
  left.epochs({.epochs = 4, .metric = {}, .gpus = {measured_energy(4000)}, .time = 40_s});
  const auto other = open();
  Job alive = Job::open(*other, site_of(2, 7), "job", nightly_job());
  EXPECT_EQ(alive.give_up_the_dead(), 0U) << "its owner runs";
  put_process(1, 8);
  EXPECT_EQ(alive.give_up_the_dead(), 1U) << "another process has its ID now";
  EXPECT_EQ(alive.give_up_the_dead(), 0U);
  const records::JobView view = alive.view();
  EXPECT_EQ(view.recurrences.at(0).state, records::RecurrenceState::given_up);
  EXPECT_EQ(view.recurrences.at(0).reason, "process 1 (zeus) is gone");
  EXPECT_EQ(view.tries.at(0).outcome, records::TryOutcome::lost);
  EXPECT_GE(view.recurrences.at(0).energy, Joules{4000}) << "what it reported counts";
  EXPECT_EQ(failure_of([&] { left.finished(ended(records::TryOutcome::reached, 5)); }).kind(), ErrorKind::conflict);
  EXPECT_EQ(other->entries(other->find("job")->id, 0, test::all_entries).size(), alive.view().entries);
}

TEST_F(JobTest, AnOwnerElsewhereIsDeadIfItsBeatsStandStillByTheWatchersClock) {
  put_process(2, 7);
  Job far = Job::open(*store_, site_of(1, 7, "another boot pid:[1]"), "job", nightly_job());
  Recurrence left = far.begin(two_limit_v100());
  next_run(left);
  Job near = Job::open(*store_, site_of(2, 7), "job", nightly_job());
  EXPECT_EQ(near.give_up_the_dead(), 0U);
  clock_.step_wall(Seconds{1e8});
  EXPECT_EQ(near.give_up_the_dead(), 0U) << "civil time does not count";
  clock_.step_wall(Seconds{-2e8});
  clock_.advance(100_s);
  left.beat();
  EXPECT_EQ(near.give_up_the_dead(), 0U);
  clock_.advance(100_s);
  EXPECT_EQ(near.give_up_the_dead(), 0U) << "its last beat was 100 s ago";
  clock_.advance(100_s);
  EXPECT_EQ(near.give_up_the_dead(), 1U);
}

TEST_F(JobTest, ABeatIsWrittenAtMostOnceInTenSeconds) {
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  for (int second = 0; second < 25; ++second) {
    recurrence.beat();
    clock_.advance(1_s);
  }
  EXPECT_EQ(store_->beats(store_->find("job")->id)[0], 2U);
}

TEST_F(JobTest, AnUnfinishedRecurrenceIsGivenUp) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  {
    Recurrence recurrence = job.begin(two_limit_v100());
    next_run(recurrence);
  }
  const records::JobView view = job.view();
  EXPECT_EQ(view.recurrences.at(0).state, records::RecurrenceState::given_up);
  EXPECT_EQ(view.tries.at(0).outcome, records::TryOutcome::lost);
}

TEST_F(JobTest, ATryThatIsLeftOutEndsItsRecurrenceAndTeachesNothing) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  next_run(recurrence);
  records::TryResult shared = ended(records::TryOutcome::reached, 3);
  shared.left_out = "another process held the GPU's limit";
  recurrence.finished(shared);
  EXPECT_TRUE(recurrence.over());
  EXPECT_FALSE(job.view().best_cost);
  EXPECT_FALSE(job.view().arms.at(1).expected_cost);
  EXPECT_EQ(job.view().recurrences.at(0).state, records::RecurrenceState::reached);
}

TEST_F(JobTest, OnOtherDevicesItStartsFromItsKnowledgeAndLaterReturnsToItsMeasurements) {
  put_process(1, 7);
  const records::JobDevice a100{.model = "A100", .gpus = 2, .max_power = 800_W, .power_limits = {200_W, 400_W}};
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  const auto run_on = [&](const records::JobDevice& device) {
    Recurrence recurrence = job.begin(device);
    const records::TryStarted run = next_run(recurrence);
    EXPECT_TRUE(!run.event.plan.limit || std::ranges::count(device.power_limits, *run.event.plan.limit) == 1);
    recurrence.finished(ended(records::TryOutcome::reached, 10));
  };
  for (int night = 0; night < 3; ++night) {
    run_on(two_limit_v100());
  }
  const std::vector<records::LimitProfile> before = job.limits(32);
  EXPECT_FALSE(before.empty());
  run_on(a100);
  EXPECT_EQ(job.spec().max_power, 800_W);
  EXPECT_EQ(job.spec().power_limits, a100.power_limits);
  for (const records::LimitProfile& limit : job.limits(32)) {
    EXPECT_EQ(std::ranges::count(a100.power_limits, limit.limit), 1);
  }
  Recurrence back = job.begin(two_limit_v100());
  EXPECT_EQ(job.limits(32), before);
  const Step step = back.next();
  if (const auto* profile = std::get_if<records::ProfileAsked>(&step)) {
    for (const records::LimitProfile& known : job.limits(profile->batch_size)) {
      EXPECT_EQ(std::ranges::count(profile->limits, known.limit), 0) << "it need not be measured again";
    }
  }
}

TEST_F(JobTest, LimitsThatCannotBeMeasuredDoNotDelayTheModel) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  EXPECT_TRUE(std::holds_alternative<records::ProfileAsked>(recurrence.next()));
  const Step step = recurrence.next();
  ASSERT_TRUE(std::holds_alternative<records::TryStarted>(step));
  EXPECT_EQ(std::get<records::TryStarted>(step).event.plan.batch_size, 32);
}

TEST_F(JobTest, ContinuesWithOrWithoutASnapshot) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  for (int night = 0; night < 40; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    next_run(recurrence);
    recurrence.finished(ended(records::TryOutcome::reached, 10 + night % 3));
  }
  const store::StoredJob stored = *store_->find("job");
  const std::string key = "lookahead 7, format 10";
  ASSERT_TRUE(store_->snapshot(stored.id, key));
  const auto next = [&] {
    const auto again = open();
    Job other = *Job::find(*again, site_of(1, 7), "job");
    Recurrence recurrence = other.begin(two_limit_v100());
    const records::TryStarted run = next_run(recurrence);
    recurrence.finished(ended(records::TryOutcome::lost, 0));
    return std::pair{run.event.plan.batch_size, run.event.plan.limit};
  };
  const auto with = next();
  store_->drop_snapshots();
  EXPECT_EQ(next(), with);
  store_->keep_snapshot(stored.id, {.key = key, .sequence = 5, .state = "nonsense"});
  EXPECT_EQ(next(), with);
}

TEST_F(JobTest, AJobJustOpenedLeavesTheStoredDaysAlone) {
  const store::JobId id = Job::open(*store_, site_of(1, 7), "job", nightly_job()).id();
  Job::find(*store_, site_of(1, 7), "job")->begin(two_limit_v100()).give_up("");
  constexpr std::int64_t day = 1;
  const auto on_that_day = [&] { return store_->savings(day, day).days.size(); };
  // A day on which no recurrence reached the target: writing all days again would drop it.
  const records::DaySums foreign{.day = day, .unit = records::CountUnit::known, .recurrences = 7};
  store_->keep_summary(id, {.summary = *store_->summary(id), .days = {foreign}});
  Job::find(*store_, site_of(1, 7), "job")->begin(two_limit_v100()).give_up("");
  EXPECT_EQ(on_that_day(), 1U);
  store_->drop_summaries();
  Job::find(*store_, site_of(1, 7), "job")->begin(two_limit_v100()).give_up("");
  EXPECT_EQ(on_that_day(), 0U);
  EXPECT_EQ(store_->summary(id)->given_up, 3U);
}

TEST_F(JobTest, ShowsSavingsOnceTheDefaultIsKnown) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  EXPECT_FALSE(job.view().savings);
  EXPECT_FALSE(job.view().savings_unknown.empty());
  for (int night = 0; night < 6; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    const records::TryStarted run = next_run(recurrence);
    records::TryResult result = ended(records::TryOutcome::reached, 10);
    result.limit = run.event.plan.limit.value_or(250_W);
    result.whole_epochs = whole(*result.limit);
    recurrence.finished(result);
  }
  const records::JobView view = job.view();
  ASSERT_TRUE(view.savings);
  EXPECT_EQ(view.savings->recurrences, 6U);
  Joules spent;
  for (const records::RecurrenceView& recurrence : view.recurrences) {
    spent += recurrence.energy.value();
  }
  EXPECT_DOUBLE_EQ((view.savings->energy_of_default - view.savings->energy).value(), spent.value());
  EXPECT_EQ(view.savings_last->recurrences, 5U);
  EXPECT_FALSE(view.next.why.empty());
}

// An unknown energy counts neither as saved nor as spent.
TEST_F(JobTest, ShowsNoFiguresForARecurrenceOfUnknownEnergy) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  for (int night = 0; night < 6; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    const records::TryStarted run = next_run(recurrence);
    records::TryResult result = ended(records::TryOutcome::reached, 10);
    result.limit = run.event.plan.limit.value_or(250_W);
    if (night == 5) {
      result.progress.gpus.clear();
      result.left_out = "its energy is unknown: the counter was reset";
    } else {
      result.whole_epochs = whole(*result.limit);
    }
    recurrence.finished(result);
  }
  const records::JobView view = job.view();
  const records::RecurrenceView& last = view.recurrences.back();
  EXPECT_EQ(last.energy, std::nullopt);
  EXPECT_EQ(last.cost, std::nullopt);
  EXPECT_GT(last.time, 0_s);
  EXPECT_EQ(last.default_energy, std::nullopt);
  EXPECT_EQ(last.default_unknown, "its energy is unknown: the counter was reset");
  ASSERT_TRUE(view.savings);
  EXPECT_EQ(view.savings->recurrences, 5U);
}

// A command that waits 4 s at 50 W and then trains for ten epochs of 1 s at 100 W under every limit, so nothing can be
// saved.
records::TryResult run_with_start(Watts limit) {
  records::TryResult result = ended(records::TryOutcome::reached, 10);
  result.progress.gpus = {measured_energy(1200)};
  result.progress.time = 14_s;
  result.limit = limit;
  result.whole_epochs = {{.limit = limit,
                          .count = 9,
                          .time = 9_s,
                          .energy = 900_J,
                          .time_deviation = {},
                          .energy_deviation = {},
                          .start_time = 4_s,
                          .start_energy = 200_J}};
  return result;
}

TEST_F(JobTest, CountsTheStartForTheRunAndForTheDefault) {
  put_process(1, 7);
  records::JobDefinition limits_alone = nightly_job();
  limits_alone.batch_sizes.clear();
  Job job = Job::open(*store_, site_of(1, 7), "job", limits_alone);
  for (int night = 0; night < 3; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    next_run(recurrence);
    if (night == 0) {
      // Its limits were measured in slices with large errors, as slices of a few steps can have.
      recurrence.profiled({.batch_size = 1,
                           .limits = {{.limit = 100_W, .epoch_time = 3_s, .average_power = 80_W},
                                      {.limit = 250_W, .epoch_time = 3_s, .average_power = 80_W}},
                           .charged = {},
                           .time = {}});
    }
    recurrence.finished(run_with_start(100_W));
    EXPECT_EQ(job.view().savings.has_value(), night == 2)
        << "the scatter of epochs is known after three runs of one size";
  }
  const records::JobView view = job.view();
  for (const records::RecurrenceView& night : view.recurrences) {
    ASSERT_TRUE(night.default_energy) << night.default_unknown;
    EXPECT_NEAR(night.default_energy->value(), 1200.0, 1e-9);
    EXPECT_NEAR(night.default_time->value(), 14.0, 1e-9);
    EXPECT_GT(night.default_energy_uncertainty->value(), 0.0);
  }
  // Except for what measuring took beside the first run.
  EXPECT_NEAR(view.savings->energy.value(), -100.0, 1e-9);
  EXPECT_GT(view.savings->energy_uncertainty->value(), 0.0);
}

TEST_F(JobTest, KeepsTheDefaultIfARedefinitionLeavesItsEpochsAlone) {
  put_process(1, 7);
  records::JobDefinition defined = nightly_job();
  defined.batch_sizes.clear();
  Job job = Job::open(*store_, site_of(1, 7), "job", defined);
  const auto run = [&] {
    Recurrence recurrence = job.begin(two_limit_v100());
    recurrence.finished(run_with_start(next_run(recurrence).event.plan.limit.value_or(250_W)));
    return job.view().recurrences.back();
  };
  run();
  run();
  EXPECT_TRUE(run().default_energy);
  defined = job.definition();
  defined.beta += 1.0;
  job.redefine(defined);
  EXPECT_TRUE(run().default_energy) << "a budget does not change epochs";
  defined.target = records::JobTarget{.metric = 0.123};
  job.redefine(defined);
  EXPECT_FALSE(run().default_energy) << "another target changes them";
}

TEST_F(JobTest, ShowsNoSavingsIfTheStartIsUnknown) {
  put_process(1, 7);
  Job job = Job::open(*store_, site_of(1, 7), "job", nightly_job());
  Recurrence recurrence = job.begin(two_limit_v100());
  next_run(recurrence);
  records::TryResult result = run_with_start(100_W);
  result.whole_epochs->start_time.reset();
  result.whole_epochs->start_energy.reset();
  recurrence.finished(result);
  const records::JobView view = job.view();
  EXPECT_FALSE(view.recurrences[0].default_energy);
  EXPECT_FALSE(view.savings);
  EXPECT_TRUE(view.savings_unknown.starts_with("how long a run takes beside its epochs is not known yet"))
      << view.savings_unknown;
}

// The script becomes three times as fast by itself, which no limit has saved.
TEST_F(JobTest, DoesNotCountAChangeOfTheJobAsASaving) {
  put_process(1, 7);
  records::JobDefinition limits_alone = nightly_job();
  limits_alone.batch_sizes.clear();
  Job job = Job::open(*store_, site_of(1, 7), "job", limits_alone);
  for (int night = 0; night < 4; ++night) {
    Recurrence recurrence = job.begin(two_limit_v100());
    const records::TryStarted run = next_run(recurrence);
    records::TryResult result = run_with_start(run.event.plan.limit.value_or(250_W));
    if (night >= 2) {
      result.progress.gpus = {measured_energy(200.0 + 1000.0 / 3.0)};
      result.progress.time = Seconds{4.0 + 10.0 / 3.0};
      result.whole_epochs->time = 3_s;
      result.whole_epochs->energy = 300_J;
    }
    recurrence.finished(result);
    // Epochs are alike under all limits here, but slices showed them 2.5 times as fast at 250 W.
    const records::RecurrenceView last = job.view().recurrences.back();
    if (last.default_energy) {
      EXPECT_LE(last.default_energy->value(), last.energy->value() + 1e-6) << "night " << night;
    } else {
      EXPECT_LE(night, 2) << last.default_unknown;
    }
  }
}

}  // namespace
}  // namespace zeus::jobs
