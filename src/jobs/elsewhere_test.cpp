// Tests recurrences that run in a client of a server, request by request.

#include "jobs/job.hpp"
#include "jobs/job_state.hpp"
#include "store/open_store.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace zeus::jobs {
namespace {

using test::two_limit_v100;

records::JobDefinition served_job() {
  return {.batch_sizes = {16, 32, 64},
          .default_batch_size = 32,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 50,
          .policy = "lookahead",
          .max_slowdown = {},
          .device = two_limit_v100()};
}

// As clients of the existing package see it: a single limit, which they do not know.
records::JobDefinition reported() {
  records::JobDefinition one = served_job();
  one.policy = "zeus";
  one.device.power_limits = {250_W};
  return one;
}

records::GpuEnergy reported_energy(double energy) {
  return {.gpu = "GPU-0", .energy = {.value = Joules{energy}, .uncertainty = {}, .systematic = {}}};
}

records::TryResult reported_end(records::TryOutcome outcome, int epochs) {
  return {.outcome = outcome,
          .progress = {.epochs = epochs, .gpus = {reported_energy(1000.0 * epochs)}, .time = Seconds{10.0 * epochs}},
          .limit = 250_W,
          .exit_code = 0};
}

class ElsewhereTest : public testing::Test, protected test::Failures {
 protected:
  // A server: several may share one store, each with its own connection and memory.
  struct Server {
    std::unique_ptr<store::JobStore> store;
    Job job;
  };
  Server server(const records::JobDefinition& what = served_job()) {
    auto store = store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
    Job job = Job::open(*store, site_, "job", what);
    return {.store = std::move(store), .job = std::move(job)};
  }
  static Beginning beginning(const std::string& user = "ann", const Request& request = {}) {
    return {.owner = {.host = "node7", .place = "far", .process = {.pid = 9, .started = 1, .command = "zeus"}},
            .user = user,
            .lease = {},
            .request = request};
  }
  static Request request(const std::string& key, const std::string& asked = "this") {
    return {.key = "ann " + key, .asked = asked};
  }
  static std::size_t entries(Server& of) {
    return of.store->entries(of.store->find("job")->id, 0, std::numeric_limits<std::size_t>::max()).size();
  }
  // Measures the requested limits and returns the try to run.
  static records::TryStarted next_run(Job& job, std::uint64_t recurrence, const std::string& key = {}) {
    std::optional<records::ProfileAsked> answered;
    while (true) {
      const Step step = job.resume(recurrence, key.empty() ? Request{} : request(key)).next(answered);
      if (const auto* run = std::get_if<records::TryStarted>(&step)) {
        return *run;
      }
      answered = std::get<records::ProfileAsked>(step);
    }
  }
  static records::TryProgress told(int epochs, double metric, double energy) {
    return {.epochs = epochs, .metric = metric, .gpus = {reported_energy(energy)}, .time = Seconds{10.0 * epochs}};
  }

  test::TemporaryFolder folder_;
  FileTree machine_{folder_.path() / "machine"};
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  Site site_{.clock = clock_, .machine = machine_, .owner = {.host = "server", .place = "near", .process = {}}};
};

TEST_F(ElsewhereTest, ARecurrenceThatIsLeftOutCountsAsIfItsTriesHadBeenLost) {
  Server one = server();
  Server other = server();
  const auto run = [&](const records::TryResult& over) {
    const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
    next_run(one.job, number);
    one.job.resume(number).finished(over);
    return number;
  };
  const auto reached = [](int epochs) { return reported_end(records::TryOutcome::reached, epochs); };
  run(reached(10));
  records::TryResult absurd = reached(11);
  absurd.progress.gpus = {reported_energy(1e17)};
  const std::uint64_t wrong = run(absurd);
  run(reached(12));
  const records::JobView before = one.job.view();
  ASSERT_GT(one.job.summary().took.energy, Joules{1e16});
  other.job.refresh();

  one.job.leave_out(wrong, "its counter was broken");
  one.job.leave_out(wrong, "twice");

  for (Server* const each : {&one, &other}) {
    EXPECT_EQ(each->job.summary().took.energy, Joules{22'000.0});
    EXPECT_EQ(each->job.summary().energy_unknown, 1U);
    const records::JobView after = each->job.view();
    ASSERT_EQ(after.recurrences.size(), 3U);
    EXPECT_FALSE(after.recurrences[1].energy);
    EXPECT_EQ(after.recurrences[1].energy_unknown, "its counter was broken");
    EXPECT_EQ(after.tries[1].left_out, "its counter was broken");
    for (const std::size_t kept : {0U, 2U}) {
      EXPECT_EQ(after.recurrences[kept].energy, before.recurrences[kept].energy);
      EXPECT_EQ(after.recurrences[kept].cost, before.recurrences[kept].cost);
    }
    EXPECT_EQ(to_json(after), to_json(each->job.overview(64))) << "as by a fold from the first entry";
    EXPECT_LT(each->job.preview().index(), 3U);
  }
  EXPECT_EQ(to_json(server().job.view()), to_json(one.job.view()));
  EXPECT_EQ(failure_of([&] { one.job.leave_out(7, "it never began"); }).kind(), ErrorKind::not_found);
  const std::uint64_t open = one.job.begin(two_limit_v100(), beginning()).number();
  EXPECT_EQ(failure_of([&] { one.job.leave_out(open, "it runs"); }).kind(), ErrorKind::conflict);
}

TEST_F(ElsewhereTest, ATryWhoseEnergyIsStillBelowZeroCanBeGivenUp) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  next_run(one.job, number);
  records::GpuEnergy below = reported_energy(-0.2);
  below.energy.uncertainty = 1_J;
  one.job.resume(number).epochs({.epochs = 1, .metric = {}, .gpus = {below}, .time = 1_s});
  one.job.resume(number).give_up("enough");
  EXPECT_TRUE(one.job.open_recurrences().empty());
}

TEST_F(ElsewhereTest, TheEnergiesOfManyGpusHaveTheRangeOfOneTogether) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  next_run(one.job, number);
  const std::vector<records::GpuEnergy> many(3, reported_energy(4e17));
  const Error refused =
      failure_of([&] { one.job.resume(number).epochs({.epochs = 1, .metric = {}, .gpus = many, .time = 1_s}); });
  EXPECT_EQ(refused.kind(), ErrorKind::invalid_argument);
  one.job.resume(number).give_up("enough");
}

TEST_F(ElsewhereTest, ANameThatAnAddressLosesIsRefusedForANewJobAlone) {
  auto store = store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
  for (const char* const name : {".", "..", " ", "", "a\u202eb", "a\u2066b", "\u200f", "a\x1b"}) {
    const Error refused = failure_of([&] { Job::open(*store, site_, name, served_job()); });
    EXPECT_EQ(refused.kind(), ErrorKind::invalid_argument) << name;
  }
  store->find_or_create("..", normalized(served_job()), {});
  EXPECT_EQ(Job::open(*store, site_, "..", served_job()).name(), "..");
  EXPECT_EQ(Job::open(*store, site_, "e\u0301t\u00e9 ...", served_job()).name(), "e\u0301t\u00e9 ...");
}

TEST_F(ElsewhereTest, ARecurrenceContinuesByItsNumberOnAnyServer) {
  Server one = server();
  Server other = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  EXPECT_EQ(one.job.open_recurrences().size(), 1U) << "it stays open when the server lets go of it";
  const records::TryStarted run = next_run(other.job, number);
  one.job.resume(number).epochs({.epochs = 1, .metric = 0.1, .gpus = {reported_energy(900)}, .time = 9_s});
  other.job.resume(number).finished(reported_end(records::TryOutcome::reached, 10));
  EXPECT_EQ(run.event.plan.batch_size, 32);
  EXPECT_EQ(failure_of([&] { one.job.resume(number).next(); }).kind(), ErrorKind::conflict) << "it is over";
  EXPECT_EQ(failure_of([&] { one.job.resume(7); }).kind(), ErrorKind::not_found);
  const records::RecurrenceView view = one.job.recurrences({}).at(0);
  EXPECT_EQ(view.state, records::RecurrenceState::reached);
  EXPECT_EQ(view.owner.host, "node7");
}

TEST_F(ElsewhereTest, ARepeatedRequestGetsTheSameAnswerAndChangesNothing) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning("ann", request("begin"))).number();
  EXPECT_EQ(one.job.begin(two_limit_v100(), beginning("ann", request("begin"))).number(), number);
  const records::TryStarted run = next_run(one.job, number, "next");
  EXPECT_FALSE(run.why.empty());
  const records::TryResult done = reported_end(records::TryOutcome::stopped, 10);
  one.job.resume(number, request("finished")).finished(done);
  const std::size_t length = entries(one);
  // From another server too, and after later requests.
  Server other = server();
  EXPECT_EQ(other.job.begin(two_limit_v100(), beginning("ann", request("begin"))).number(), number);
  const auto again = std::get<records::TryStarted>(other.job.resume(number, request("next")).next(std::nullopt));
  EXPECT_EQ(again.event.try_number, run.event.try_number);
  EXPECT_EQ(again.seed, run.seed);
  EXPECT_EQ(again.event.plan.batch_size, run.event.plan.batch_size);
  EXPECT_EQ(again.event.plan.limit, run.event.plan.limit);
  EXPECT_EQ(again.event.plan.max_epochs, run.event.plan.max_epochs);
  EXPECT_EQ(again.event.plan.budget, run.event.plan.budget);
  EXPECT_EQ(again.event.plan.purpose, run.event.plan.purpose);
  EXPECT_EQ(again.why, run.why);
  other.job.resume(number, request("finished")).finished(done);
  EXPECT_EQ(entries(one), length);
  EXPECT_EQ(failure_of([&] { other.job.resume(number, request("next", "that")).next(); }).kind(),
            ErrorKind::invalid_argument);
  EXPECT_EQ(failure_of([&] { other.job.resume(number).finished(done); }).kind(), ErrorKind::invalid_argument)
      << "without a key it is a new report, and no try runs";
}

TEST_F(ElsewhereTest, ARepeatedRedefinitionNamesTheSameChangesAndIsMadeOnce) {
  Server one = server();
  records::JobDefinition other = served_job();
  other.eta = 0.75;
  const auto changes = one.job.redefine(other, request("first"));
  ASSERT_EQ(changes.size(), 1U);
  records::JobDefinition third = other;
  third.eta = 0.25;
  one.job.redefine(third, request("second"));
  const std::size_t length = entries(one);
  const auto again = server(third).job.redefine(other, request("first"));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.front().was, changes.front().was);
  EXPECT_EQ(again.front().now, changes.front().now);
  EXPECT_EQ(entries(one), length);
  one.job.refresh();
  EXPECT_EQ(one.job.definition().eta, 0.25);
}

TEST_F(ElsewhereTest, AGivenUpRecurrenceAnswersARepeatedRequestToo) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  for (int missed = 0; missed < 3; ++missed) {
    next_run(one.job, number);
    one.job.resume(number).finished(reported_end(records::TryOutcome::exhausted, 50));
  }
  const auto first = std::get<records::FailedTries>(one.job.resume(number, request("next")).next(std::nullopt));
  const std::size_t length = entries(one);
  const auto again = std::get<records::FailedTries>(one.job.resume(number, request("next")).next(std::nullopt));
  EXPECT_EQ(again.tries, first.tries);
  EXPECT_EQ(again.never_reached, first.never_reached);
  EXPECT_TRUE(first.never_reached);
  EXPECT_EQ(entries(one), length);
}

TEST_F(ElsewhereTest, ImpossibleReportsAreRefused) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  const auto refused = [&](const auto& report) { return failure_of([&] { report(one.job.resume(number)); }).kind(); };
  const auto epochs = [](int count, double energy, double time) {
    return [=](Recurrence recurrence) {
      recurrence.epochs({.epochs = count, .metric = {}, .gpus = {reported_energy(energy)}, .time = Seconds{time}});
    };
  };
  EXPECT_EQ(refused(epochs(1, 1, 1)), ErrorKind::invalid_argument) << "before a try";
  next_run(one.job, number);
  EXPECT_EQ(refused([](Recurrence recurrence) { recurrence.next(); }), ErrorKind::invalid_argument) << "during one";
  epochs(3, 3000, 30)(one.job.resume(number));
  EXPECT_EQ(refused(epochs(2, 4000, 40)), ErrorKind::invalid_argument) << "epochs that go back";
  EXPECT_EQ(refused(epochs(4, 2900, 40)), ErrorKind::invalid_argument) << "an energy that falls";
  EXPECT_NO_THROW(epochs(3, 2990, 30)(one.job.resume(number))) << "the energy is more exact now";
  EXPECT_EQ(refused(epochs(4, 4000, 29)), ErrorKind::invalid_argument) << "a time that falls";
  EXPECT_EQ(refused([](Recurrence recurrence) { recurrence.finished(reported_end(records::TryOutcome::reached, 2)); }),
            ErrorKind::invalid_argument);
  one.job.resume(number).finished(reported_end(records::TryOutcome::reached, 4));
  EXPECT_EQ(refused(epochs(5, 5000, 50)), ErrorKind::conflict) << "after it is over";
}

TEST_F(ElsewhereTest, AnOwnerThatAskedForALongerLeaseIsGivenUpLater) {
  Server one = server();
  Beginning patient = beginning();
  patient.lease = 3600_s;
  one.job.begin(two_limit_v100(), patient);
  one.job.begin(two_limit_v100(), beginning());
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(121_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U);
  EXPECT_EQ(one.job.open_recurrences().front().number, 0U);
  clock_.advance(3480_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U);
}

TEST_F(ElsewhereTest, EveryReportOfAnOwnerShowsThatItLives) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  next_run(one.job, number);
  for (int epochs = 1; epochs <= 5; ++epochs) {
    EXPECT_EQ(one.job.give_up_the_dead(), 0U) << epochs;
    clock_.advance(110_s);
    one.job.resume(number).epochs({.epochs = epochs, .metric = {}, .gpus = {}, .time = Seconds{110.0 * epochs}});
  }
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(121_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U);
}

TEST_F(ElsewhereTest, ALongLeaseIsNoShorterThanTenOfTheLongestEpochs) {
  Server one = server(reported());
  Beginning patient = beginning();
  patient.lease = 3600_s;
  const records::TryStarted issued = one.job.issue(reported().device, patient);
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(3000_s);
  one.job.report(issued.event.try_number, {.epochs = 1, .metric = 0.1, .gpus = {reported_energy(10)}, .time = 3000_s});
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(29'000_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 0U) << "ten epochs take 30 000 s";
  clock_.advance(1001_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U);
}

TEST_F(ElsewhereTest, ATrainingThatReportsItsEpochsLearnsWhenToStop) {
  Server one = server(reported());
  const records::TryStarted issued = one.job.issue(reported().device, beginning());
  const std::uint64_t number = issued.event.try_number;
  EXPECT_EQ(issued.event.plan.batch_size, 32);
  EXPECT_FALSE(one.job.report(number, told(1, 0.1, 1000)).outcome);
  Server other = server(reported());
  EXPECT_TRUE(other.job.report(number, told(1, 0.95, 1000)).decided_before) << "another rank";
  EXPECT_EQ(one.job.report(number, told(2, 0.95, 2000)).outcome, records::TryOutcome::reached);
  const std::size_t length = entries(one);
  const EpochAnswer rank = other.job.report(number, told(2, 0.1, 2000));
  EXPECT_EQ(rank.outcome, records::TryOutcome::reached);
  EXPECT_TRUE(rank.decided_before);
  EXPECT_EQ(entries(one), length);
  EXPECT_EQ(one.job.tries({}).at(0).epochs, 2);
  EXPECT_EQ(failure_of([&] { one.job.report(77, told(1, 0.1, 1)); }).kind(), ErrorKind::not_found);
}

TEST_F(ElsewhereTest, TheNextTryContinuesTheUsersOldestRecurrenceThatFailed) {
  Server one = server(reported());
  const records::TryStarted first = one.job.issue(reported().device, beginning());
  const records::TryStarted second = one.job.issue(reported().device, beginning());
  EXPECT_NE(first.event.recurrence, second.event.recurrence) << "both run";
  one.job.lose(second.event.try_number);
  one.job.lose(first.event.try_number);
  one.job.lose(first.event.try_number);
  EXPECT_EQ(one.job.issue(reported().device, beginning("bob")).event.recurrence, 2U) << "the others are not bob's";
  const records::TryStarted again = one.job.issue(reported().device, beginning("ann", request("again")));
  EXPECT_EQ(again.event.recurrence, first.event.recurrence);
  EXPECT_EQ(one.job.issue(reported().device, beginning("ann", request("again"))).event.try_number,
            again.event.try_number);
  EXPECT_EQ(one.job.issue(reported().device, beginning()).event.recurrence, second.event.recurrence);
  EXPECT_EQ(failure_of([&] { one.job.lose(99); }).kind(), ErrorKind::not_found);
}

// As people read them; entries count from zero.
TEST_F(ElsewhereTest, MessagesCountTriesAndRecurrencesFromOne) {
  Server one = server(reported());
  const auto message = [](const auto& action) { return failure_of(action).message(); };
  EXPECT_EQ(message([&] { one.job.resume(0); }), "no recurrence 1 of the job 'job' has begun");
  EXPECT_EQ(message([&] { one.job.lose(0); }), "no try 1 of the job 'job' has started");
  EXPECT_EQ(message([&] { one.job.report(0, told(1, 0.1, 1)); }), "no try 1 of the job 'job' has started");
  const records::TryStarted issued = one.job.issue(reported().device, beginning());
  EXPECT_EQ(message([&] { one.job.resume(issued.event.recurrence).next(); }), "a try of recurrence 1 is running");
  one.job.lose(issued.event.try_number);
  EXPECT_EQ(
      message([&] { one.job.resume(issued.event.recurrence).finished(reported_end(records::TryOutcome::reached, 1)); }),
      "no try of recurrence 1 is running");
  one.job.resume(issued.event.recurrence).give_up("enough");
  EXPECT_TRUE(message([&] { one.job.resume(issued.event.recurrence).next(); }).starts_with("recurrence 1 is over"));
}

TEST_F(ElsewhereTest, ALateReportIsJudgedByItsOwnFiguresAndItsTryIsLeftOut) {
  Server one = server(reported());
  const records::TryStarted issued = one.job.issue(reported().device, beginning());
  one.job.report(issued.event.try_number, told(1, 0.1, 1000));
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(121_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U);
  const std::size_t length = entries(one);
  const std::string took = records::json_line(one.job.recurrences({}).at(0));
  const std::string next = records::json_line(one.job.overview(0).next);
  const EpochAnswer late = one.job.report(issued.event.try_number, told(2, 0.1, 2000), request("late"));
  EXPECT_FALSE(late.outcome);
  EXPECT_TRUE(late.decided_before);
  EXPECT_EQ(one.job.report(issued.event.try_number, told(3, 0.95, 3000), request("later")).outcome,
            records::TryOutcome::reached);
  EXPECT_EQ(entries(one), length + 2);
  EXPECT_FALSE(one.job.report(issued.event.try_number, told(2, 0.1, 2000), request("late")).outcome)
      << "the same request";
  Server other = server(reported());
  const EpochAnswer rank = other.job.report(issued.event.try_number, told(3, 0.1, 3500));
  EXPECT_EQ(rank.outcome, records::TryOutcome::reached) << "as in the first report of that epoch";
  EXPECT_EQ(entries(one), length + 2);
  const records::TryView shown = one.job.tries({}).at(0);
  EXPECT_EQ(shown.outcome, records::TryOutcome::lost);
  EXPECT_TRUE(shown.left_out);
  EXPECT_EQ(shown.epochs, 3);
  EXPECT_EQ(shown.metric, 0.95);
  EXPECT_EQ(shown.energy->value, Joules{3000});
  EXPECT_EQ(records::json_line(one.job.recurrences({}).at(0)), took) << "its recurrence was over";
  EXPECT_EQ(records::json_line(one.job.overview(0).next), next) << "nothing is learned from it";
}

TEST_F(ElsewhereTest, EpochsInLateReportsMakeLeasesLonger) {
  Server one = server(reported());
  Beginning patient = beginning();
  patient.lease = 3600_s;
  const records::TryStarted slow = one.job.issue(reported().device, patient);
  EXPECT_EQ(one.job.give_up_the_dead(), 0U);
  clock_.advance(3601_s);
  EXPECT_EQ(one.job.give_up_the_dead(), 1U) << "its first epoch takes longer";
  one.job.report(slow.event.try_number, {.epochs = 1, .metric = 0.1, .gpus = {reported_energy(10)}, .time = 4000_s});
  EXPECT_EQ(one.job.longest_epoch(), 4000_s);
}

TEST_F(ElsewhereTest, EachAppendStoresTheSummary) {
  Server one = server();
  const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
  next_run(one.job, number);
  one.job.resume(number).epochs({.epochs = 2, .metric = 0.1, .gpus = {reported_energy(900)}, .time = 9_s});
  const auto kept = one.store->summary(one.store->find("job")->id);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->entries, entries(one));
  EXPECT_EQ(to_json(*kept), to_json(one.job.summary()));
  ASSERT_EQ(kept->running.size(), 1U);
  EXPECT_EQ(kept->running[0].user, "ann");
  EXPECT_EQ(kept->running[0].epochs, 2);
  one.store->drop_summaries();
  const std::vector<records::JobSummary> all =
      summaries(*one.store, site_, [](const std::string& name, const Error&) { FAIL() << name; });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(to_json(all[0]), to_json(*kept));
  EXPECT_TRUE(one.store->summary(one.store->find("job")->id)) << "it is stored again";
}

// Past costs are weighed again too, and so are those stored with them.
TEST_F(ElsewhereTest, AnotherEtaWeighsTheWholeSummaryAgain) {
  Server one = server();
  for (int night = 0; night < 3; ++night) {
    const std::uint64_t number = one.job.begin(two_limit_v100(), beginning()).number();
    next_run(one.job, number);
    one.job.resume(number).finished(reported_end(records::TryOutcome::reached, 10));
  }
  EXPECT_EQ(one.job.summary().took.cost, Joules{0.5 * 30'000 + 0.5 * 250 * 300});
  records::JobDefinition other = served_job();
  other.eta = 1.0;
  Server second = server();
  one.job.redefine(other);
  EXPECT_EQ(one.job.summary().took.cost, Joules{30'000});
  EXPECT_EQ(second.job.summary().took.cost, Joules{30'000});
  EXPECT_EQ(one.store->summary(one.store->find("job")->id)->took.cost, Joules{30'000});
}

}  // namespace
}  // namespace zeus::jobs
