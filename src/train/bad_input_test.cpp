#include "tests/support/session_fixture.hpp"
#include "tests/support/virtual_training.hpp"
#include "train/profile_file.hpp"
#include "train/session.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <set>
#include <string_view>

namespace zeus::train {
namespace {

using test::of_kind;
using test::run_epochs;
using test::SessionTest;
using test::v100;
using test::VirtualTraining;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using BadInput = SessionTest;

TEST_F(BadInput, WithoutAGpuItTrainsAndReportsWhyItDoesNotOptimize) {
  options_.stopping.cost_limit = 100_J;
  options_.stopping.max_epochs = 2;
  VirtualTraining clock_only{{v100()}, work_, 1};
  SessionParts parts{.gpus = {}, .meter = {}, .acquire = {}, .clock = clock_only.clock()};
  Session session{std::move(parts), options_};
  run_epochs(session, clock_only, 5, 20);
  session.finish();
  const TrainingResult result = session.result();
  EXPECT_EQ(result.stopped_by, StopReason::epochs_used_up);
  EXPECT_FALSE(result.energy);
  EXPECT_FALSE(result.cost);
  EXPECT_GT(result.time, 0_s);
  EXPECT_EQ(result.unoptimized, "there is no GPU to set");
  EXPECT_THAT(said_,
              ElementsAre("the cost limit has no effect: without a GPU whose power limit can be read there is no cost",
                          "the training goes on without being optimized: there is no GPU to set"));
}

TEST_F(BadInput, WithoutPermissionItTrainsUnoptimizedWithOneWarning) {
  training_.gpu(2).set_faults({.reading = {}, .setting = Reason::permission, .ceiling = {}, .slowness = {}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 3, 100);
  session.finish();
  EXPECT_THAT(said_, SizeIs(1));
  EXPECT_THAT(session.result().unoptimized, HasSubstr("not permitted"));
  EXPECT_EQ(training_.limit(0), 250_W);
  ASSERT_TRUE(session.result().energy) << "it is measured all the same";
}

TEST_F(BadInput, DifferentLimitRangesAreReducedToWhatAllGpusAllow) {
  VirtualTraining mixed{{v100(), physics::preset("A40")}, work_, 1};
  Session session{mixed.parts(), options_};
  run_epochs(session, mixed, 1, 500);
  ASSERT_TRUE(session.optimum());
  for (const SettingApplied& event : of_kind<SettingApplied>(events_)) {
    EXPECT_LE(event.setting.limit, 250_W);
    EXPECT_GE(event.setting.limit, 100_W);
  }
  EXPECT_EQ(session.result().max_power, 550_W);
  EXPECT_EQ(session.profile().gpu, "NVIDIA A40 + Tesla V100-PCIE-32GB");
}

TEST_F(BadInput, LimitRangesThatExcludeOneAnotherLeaveTheGpusAlone) {
  physics::GpuModel large = v100();
  large.limits = {.min = 400_W, .default_limit = 500_W, .max = 500_W};
  VirtualTraining mixed{{v100(), large}, work_, 1};
  Session session{mixed.parts(), options_};
  run_epochs(session, mixed, 1, 50);
  EXPECT_THAT(mixed.calls(), IsEmpty());
  EXPECT_THAT(session.result().unoptimized, HasSubstr("no power limit that all 2 GPUs allow"));
}

TEST_F(BadInput, ReportsALimitRangeThatNoGpuAllows) {
  options_.profiling.lowest_limit = 300_W;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 50);
  EXPECT_THAT(session.result().unoptimized, HasSubstr("they have 100 W to 250 W in common"));
}

TEST_F(BadInput, OfTheLimitsThatAPolicyRefusesOnAnyGpuNoneIsTried) {
  training_.bound(1, {{.minimum = 120_W, .maximum = 180_W}});
  training_.bound(2, {{.minimum = 100_W, .maximum = 160_W}, {.minimum = 170_W, .maximum = 250_W}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  std::set<Watts> tried;
  for (const auto& slice : of_kind<SliceMeasured>(events_)) {
    tried.insert(slice.setting.limit);
  }
  EXPECT_THAT(tried, ElementsAre(125_W, 150_W, 175_W));
  ASSERT_TRUE(session.optimum());
  EXPECT_EQ(training_.limit(0), session.optimum()->limit);
  session.finish();
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(BadInput, ObservingDoesNotTryTheLimitThatWasFoundWhereAPolicyRefusesIt) {
  options_.mode = TrainingMode::observe;
  training_.bound(0, {{.minimum = 100_W, .maximum = 180_W}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 2, 400);
  session.finish();
  for (const auto& slice : of_kind<SliceMeasured>(events_)) {
    EXPECT_LE(slice.setting.limit, 180_W);
  }
  EXPECT_EQ(session.result().unoptimized, "");
  EXPECT_TRUE(session.result().prediction) << session.result().no_prediction;
}

TEST_F(BadInput, AProfileWithMoreLimitsThanAPolicyAllowsIsContinuedAmongThese) {
  options_.files.profiles = folder_.path() / "profiles.json";
  {
    Session session{training_.parts(), options_};
    run_epochs(session, training_, 1, 400);
    ASSERT_TRUE(session.optimum());
  }
  training_.bound(0, {{.minimum = 170_W, .maximum = 230_W}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  ASSERT_TRUE(session.optimum());
  EXPECT_THAT(session.optimum()->limit, ::testing::AnyOf(175_W, 200_W, 225_W));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("policy allows 3 of 7 power limits")));
}

TEST_F(BadInput, LimitsThatNoGpuCanHaveAreNotBlamedOnAPolicy) {
  options_.profiling.limits = {300_W};
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 50);
  EXPECT_THAT(session.result().unoptimized, HasSubstr("there is no power limit to profile"));
}

TEST_F(BadInput, APolicyThatAllowsNoneOfTheLimitsToTryLeavesTheGpusAlone) {
  training_.bound(3, {{.minimum = 101_W, .maximum = 124_W}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 50);
  EXPECT_THAT(training_.calls(), IsEmpty());
  EXPECT_THAT(session.result().unoptimized, HasSubstr("policy allows none of the power limits to try"));
}

TEST_F(BadInput, EpochsWithoutStepsAreAccountedAndReported) {
  Session session{training_.parts(), options_};
  for (int epoch = 0; epoch < 4; ++epoch) {
    ASSERT_TRUE(session.next_epoch());
    training_.evaluate(10_s, 100_W);
  }
  session.finish();
  EXPECT_THAT(training_.calls(), IsEmpty());
  EXPECT_NEAR(session.result().time.value(), 40, 1e-6);
  EXPECT_THAT(said_, ElementsAre("nothing can be profiled: no steps were reported in 3 epochs"));
}

TEST_F(BadInput, AMissingMetricIsReportedOnce) {
  options_.stopping.target = {.metric = 0.5};
  options_.stopping.max_epochs = 5;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 10, 10);
  EXPECT_EQ(session.result().stopped_by, StopReason::epochs_used_up);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("no metric was reported in two epochs")));
}

TEST_F(BadInput, NotANumberNeverReachesTheTarget) {
  options_.stopping.target = {.metric = 0.5};
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  session.report(std::numeric_limits<double>::quiet_NaN());
  session.report(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(session.next_epoch());
  EXPECT_FALSE(session.result().metric);
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(BadInput, EpochsShorterThanASliceAreProfiledAcrossEpochs) {
  for (const int steps : {1, 2, 3, 7}) {
    VirtualTraining training{{v100()}, work_, 4};
    Session session{training.parts(), options_};
    run_epochs(session, training, 300, steps);
    session.finish();
    EXPECT_EQ(session.optimum().has_value(), steps > 1) << steps;
    EXPECT_EQ(training.limit(0), 250_W);
    if (steps == 1) {
      EXPECT_THAT(session.result().unoptimized, HasSubstr("too short"));
    }
  }
}

TEST_F(BadInput, AnUnwritableProfilePathCostsOnlyTheProfile) {
  options_.files.profiles = "/proc/no/such/folder/profiles.json";
  options_.files.result = "/proc/no/such/folder/result.json";
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  session.finish();
  EXPECT_TRUE(session.result().optimum);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("the power profile is not kept"), HasSubstr("the result is not written")));
}

TEST_F(BadInput, ACorruptProfileFileIsReportedAndLeftAlone) {
  const FileTree folder{folder_.path()};
  options_.files.profiles = folder_.path() / "profiles.json";
  for (const std::string content : {"", "{", "[]", "my thesis", R"({"format":"zeus power profiles","version":1})"}) {
    said_.clear();
    folder.write_durably("profiles.json", content);
    VirtualTraining training{{v100()}, work_, 4};
    Session session{training.parts(), options_};
    run_epochs(session, training, 1, 400);
    EXPECT_TRUE(session.optimum());
    EXPECT_THAT(said_, ElementsAre(HasSubstr("the profile file is left alone"))) << content;
    EXPECT_EQ(folder.read("profiles.json"), content);
  }
}

// As if another process held the lease of this GPU.
SessionParts leased_elsewhere(SessionParts parts) {
  parts.acquire = [](std::string_view, Seconds) -> control::Lease {
    throw Error{ErrorKind::conflict, "GPU 0 is leased by process 7 (other)", "go on without setting it"};
  };
  return parts;
}

TEST_F(BadInput, OnAGpuThatAnotherProcessSetsItTrainsUnoptimized) {
  Session session{leased_elsewhere(training_.parts()), options_};
  run_epochs(session, training_, 1, 100);
  EXPECT_THAT(session.result().unoptimized, HasSubstr("is leased by process 7"));
  EXPECT_THAT(training_.calls(), IsEmpty());
}

TEST_F(BadInput, ReadingsThatFailLoseSlicesAndNotTheTraining) {
  training_.gpu(1).set_faults({.reading = Reason::lost, .setting = {}, .ceiling = {}, .slowness = {}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 2, 100);
  session.finish();
  EXPECT_THAT(session.result().unoptimized, HasSubstr("power limit"));
  EXPECT_FALSE(session.result().energy);
}

TEST_F(BadInput, AGpuThatStopsTellingItsEnergyEndsTheProfilingWithoutAnOptimum) {
  Session session{training_.parts(), options_};
  for (int epoch = 0; epoch < 2 && session.next_epoch(); ++epoch) {
    for (int step = 0; step < 400; ++step) {
      session.begin_step();
      if (step == 5 && epoch == 0) {
        training_.gpu(1).set_faults({.reading = Reason::lost, .setting = {}, .ceiling = {}, .slowness = {}});
      }
      training_.step();
    }
  }
  EXPECT_FALSE(session.optimum());
  EXPECT_FALSE(session.result().unoptimized.empty());
}

TEST_F(BadInput, ALimitThatIsNotKeptIsReported) {
  training_.gpu(3).set_faults({.reading = {}, .setting = {}, .ceiling = 140_W, .slowness = {}});
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  EXPECT_EQ(of_kind<SettingApplied>(events_).at(0).enforced, 140_W);
}

TEST_F(BadInput, ALeaseThatRanOutIsTakenAgainWithTheNextStepOrEpoch) {
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  ASSERT_TRUE(session.result().applied);
  const auto step = [&] {
    session.begin_step();
    training_.step();
  };
  training_.evaluate(1000_s, 60_W);
  step();
  EXPECT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_EQ(training_.limit(0), 250_W);
  step();
  EXPECT_EQ(training_.limit(0), session.optimum()->limit);
  training_.evaluate(1000_s, 60_W);
  step();
  EXPECT_THAT(of_kind<Unoptimized>(events_), SizeIs(2));
  EXPECT_EQ(training_.limit(0), 250_W);
  run_epochs(session, training_, 1, 20);
  EXPECT_TRUE(session.result().applied);
  EXPECT_EQ(training_.limit(0), session.optimum()->limit);
}

// Each attempt may wait for a driver; a step must not.
TEST_F(BadInput, ALeaseThatIsLostAtOnceIsNotTakenAgainWithEachStep) {
  SessionParts parts = training_.parts();
  int taken = 0;
  parts.acquire = [&, acquire = parts.acquire](std::string_view uuid, Seconds) {
    ++taken;
    return acquire(uuid, Seconds{1e-3});
  };
  Session session{std::move(parts), options_};
  ASSERT_TRUE(session.next_epoch());
  const Seconds began = training_.elapsed();
  for (int step = 0; step < 2000; ++step) {
    session.begin_step();
    training_.step();
  }
  EXPECT_LE(taken, 4 * (2 + static_cast<int>((training_.elapsed() - began) / 60_s)));
}

TEST_F(BadInput, AHeldSettingWhoseLeaseRanOutIsHeldAgainWithTheNextEpoch) {
  Session session{training_.parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  run_epochs(session, training_, 1, 20);
  training_.evaluate(1000_s, 60_W);
  session.begin_step();
  EXPECT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_EQ(training_.limit(0), 250_W);
  run_epochs(session, training_, 1, 20);
  EXPECT_TRUE(session.result().applied);
  EXPECT_EQ(training_.limit(0), 150_W);
  EXPECT_THAT(of_kind<ProfilingBegun>(events_), IsEmpty());
}

TEST_F(BadInput, ARefusedHeldSettingIsReportedAndLeavesTheGpusAsFound) {
  Session session{training_.parts(), options_};
  session.hold({.limit = 400_W, .clock = {}});
  run_epochs(session, training_, 1, 20);
  ASSERT_THAT(of_kind<SettingRefused>(events_), SizeIs(1));
  EXPECT_EQ(of_kind<SettingRefused>(events_)[0].setting.limit, 400_W);
  EXPECT_THAT(of_kind<SettingApplied>(events_), IsEmpty());
  EXPECT_FALSE(session.optimum());
  EXPECT_FALSE(session.result().applied);
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(BadInput, WithoutALeaseNothingIsHeldAndTheReasonIsReported) {
  Session session{leased_elsewhere(training_.parts()), options_};
  session.hold({.limit = 200_W, .clock = {}});
  EXPECT_THAT(session.result().unoptimized, HasSubstr("is leased by process 7"));
  EXPECT_FALSE(session.result().applied);
  EXPECT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_THAT(training_.calls(), IsEmpty());
}

TEST_F(BadInput, WithoutAGpuThereIsNothingToHoldAndThatIsReported) {
  SessionParts parts{.gpus = {}, .meter = {}, .acquire = {}, .clock = training_.clock()};
  Session session{std::move(parts), options_};
  session.hold({.limit = 200_W, .clock = {}});
  EXPECT_THAT(of_kind<SettingApplied>(events_), IsEmpty());
  ASSERT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_EQ(of_kind<Unoptimized>(events_)[0].why, "there is no GPU to set");
}

TEST_F(BadInput, ATrainingThatOnlyObservesHoldsNothing) {
  for (const TrainingMode mode : {TrainingMode::observe, TrainingMode::passive}) {
    options_.mode = mode;
    Session session{training_.parts(), options_};
    EXPECT_THROW(session.hold({.limit = 150_W, .clock = {}}), Error);
  }
  EXPECT_THAT(training_.calls(), IsEmpty());
}

TEST_F(BadInput, EpochsWithoutStepsCauseNoWarningIfASettingIsHeld) {
  Session session{training_.parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  for (int epoch = 0; epoch < 4; ++epoch) {
    ASSERT_TRUE(session.next_epoch());
  }
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(BadInput, OptionsThatMakeNoSenseAreErrors) {
  const auto refuses = [&](auto change) {
    TrainingOptions options;
    change(options);
    EXPECT_THROW((Session{training_.parts(), options}), Error);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuses([&](TrainingOptions& o) { o.eta = 1.5; });
  refuses([&](TrainingOptions& o) { o.eta = nan; });
  refuses([&](TrainingOptions& o) { o.goal = MaxSlowdown{.factor = 0.9}; });
  refuses([&](TrainingOptions& o) { o.goal = MaxSlowdown{.factor = 1.1, .confidence = 1.0}; });
  refuses([&](TrainingOptions& o) { o.goal = PowerSelector{}; });
  refuses([&](TrainingOptions& o) { o.profiling.limit_step = 0_W; });
  refuses([&](TrainingOptions& o) { o.stopping.target = {.metric = nan}; });
  refuses([&](TrainingOptions& o) { o.stopping.max_epochs = 0; });
  refuses([&](TrainingOptions& o) { o.stopping.cost_limit = Joules{nan}; });
  refuses([&](TrainingOptions& o) { o.lease_term = Seconds{nan}; });
}

TEST_F(BadInput, InAForkedChildASessionIsDead) {
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  const std::size_t calls = training_.calls().size();
  const pid_t child = ::fork();
  if (child == 0) {
    session.begin_step();
    session.end_epoch();
    const bool dead = !session.next_epoch();
    session.finish();
    ::_exit(dead && training_.calls().size() == calls ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session.next_epoch());
  EXPECT_EQ(training_.limit(0), session.optimum()->limit);
}

}  // namespace
}  // namespace zeus::train
