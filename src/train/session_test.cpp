#include "train/session.hpp"

#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "tests/support/constant_slices.hpp"
#include "tests/support/session_fixture.hpp"
#include "tests/support/virtual_training.hpp"
#include "train/profile_file.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::train {
namespace {

using test::best_cost;
using test::ConstantSlices;
using test::cost_of;
using test::of_kind;
using test::run_epochs;
using test::SessionTest;
using test::TrainingWork;
using test::v100;
using test::VirtualTraining;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(SessionTest, AppliesACostWithinOnePercentOfTheBestToAllGpus) {
  const auto settled_energy = [&](const PowerSetting& setting) {
    return test::settled_step(v100(), work_, setting).energy;
  };
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  ASSERT_TRUE(session.optimum());
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.01 * best_cost(v100(), work_));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(training_.limit(i), session.optimum()->limit);
  }
  EXPECT_TRUE(session.result().applied);
  ASSERT_THAT(of_kind<ProfilingDone>(events_), SizeIs(1));
  const ProfilingDone done = of_kind<ProfilingDone>(events_).front();
  ASSERT_TRUE(done.saving);
  EXPECT_NEAR(done.saving->share,
              1 - settled_energy(*done.optimum) / settled_energy(done.profile.measurements[0].setting),
              done.saving->half_width);
  EXPECT_GT(done.saving->half_width, 0.01) << "no interval of a counter alone: steps scatter";
}

TEST_F(SessionTest, PutsBackWhatWasFoundWhenItEndsHoweverItEnds) {
  static_cast<void>(training_.gpu(1).set_power_limit(180_W));
  for (const bool finish : {true, false}) {
    {
      Session session{training_.parts(), options_};
      run_epochs(session, training_, 1, 400);
      EXPECT_EQ(training_.limit(1), session.optimum()->limit);
      if (finish) {
        session.finish();
      }
    }
    EXPECT_EQ(training_.limit(0), 250_W);
    EXPECT_EQ(training_.limit(1), 180_W);
  }
}

TEST_F(SessionTest, ASliceOverruledByTheSameProcessIsLostAndReported) {
  SessionParts parts = training_.parts();
  const auto acquire = parts.acquire;
  const std::string uuid = parts.gpus.at(2).gpu->identity().uuid;
  Session session{std::move(parts), options_};
  ASSERT_TRUE(session.next_epoch());
  while (of_kind<SettingApplied>(events_).empty()) {
    session.begin_step();
    training_.step();
  }
  std::optional<control::Lease> setter{acquire(uuid, 60_s)};
  static_cast<void>(setter->set_power_limit(110_W));
  for (int step = 0; step < 400; ++step) {
    session.begin_step();
    training_.step();
  }
  ASSERT_THAT(of_kind<SliceLost>(events_), SizeIs(1));
  EXPECT_THAT(of_kind<SliceLost>(events_)[0].why,
              HasSubstr("was set to power limit 110 W from elsewhere in this process"));
  ASSERT_TRUE(session.optimum());
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.01 * best_cost(v100(), work_));
  EXPECT_EQ(training_.limit(2), session.optimum()->limit) << "the latest holds";
  session.finish();
  EXPECT_EQ(training_.limit(2), 110_W);
  setter.reset();
  EXPECT_EQ(training_.limit(2), 250_W);
}

TEST_F(SessionTest, ALessorThatIsAwayIsNamedOnceAndTuningGoesOnWhenItIsBack) {
  SessionParts parts = training_.parts();
  bool away = true;
  int asked = 0;
  parts.acquire = [&, acquire = parts.acquire](std::string_view uuid, Seconds term) {
    ++asked;
    if (away) {
      throw control::LessorAway{ErrorKind::unavailable, "the daemon is away"};
    }
    return acquire(uuid, term);
  };
  Session session{std::move(parts), options_};
  ASSERT_TRUE(session.next_epoch());
  const auto train_until = [&](Seconds end) {
    while (training_.elapsed() < end) {
      session.begin_step();
      training_.step();
    }
  };
  train_until(40_s);
  EXPECT_EQ(asked, 6) << "at once, then after 1, 2, 4, 8 and 16 s";
  EXPECT_THAT(said_, ElementsAre(HasSubstr("goes on without being optimized: the daemon is away")));
  EXPECT_THAT(of_kind<SettingRefused>(events_), IsEmpty());
  away = false;
  train_until(200_s);
  ASSERT_TRUE(session.optimum());
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.01 * best_cost(v100(), work_));
  EXPECT_THAT(said_, SizeIs(1));
}

// As during an evaluation without a sign, between two steps of a training that reports no epochs.
TEST_F(SessionTest, ALeaseThatEndedInASilenceIsTakenAgainWithTheNextSteps) {
  options_.lease_term = 60_s;
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  const auto step = [&] {
    session.begin_step();
    training_.step();
  };
  while (of_kind<SliceMeasured>(events_).size() < 2) {
    step();
  }
  training_.clock().advance(100_s);
  step();
  ASSERT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  for (int more = 0; more < 400; ++more) {
    step();
  }
  ASSERT_TRUE(session.optimum());
  EXPECT_TRUE(session.result().applied);
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.01 * best_cost(v100(), work_));
  EXPECT_EQ(training_.limit(0), session.optimum()->limit);
  EXPECT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
}

// A lease whose lessor has been restarted, or is away.
class ShakyLease final : public control::LeaseBacking {
 public:
  enum class Lessor { there, restarted, away };

  ShakyLease(control::Lease lease, Lessor& lessor) : lease_{std::move(lease)}, lessor_{lessor} {}

  [[nodiscard]] const device::Gpu& gpu() const override { return lease_.gpu(); }
  [[nodiscard]] std::string name() const override { return "GPU"; }
  control::PowerSetting set_power_limit(Watts limit) override { return lease_.set_power_limit(limit); }
  control::ClockSetting lock_clocks(ClockDomain domain, ClockRange range) override {
    return lease_.lock_clocks(domain, range);
  }
  void unlock_clocks(ClockDomain domain) override { lease_.unlock_clocks(domain); }
  Reading<bool> set_persistence_mode(bool enabled) override { return lease_.set_persistence_mode(enabled); }
  [[nodiscard]] std::string overruled() override {
    if (lessor_ == Lessor::away) {
      throw control::LessorAway{ErrorKind::unavailable, "the daemon is away"};
    }
    return lessor_ == std::exchange(said_, lessor_) ? std::string{} : "the daemon was restarted";
  }
  void restore() override { lease_.restore(); }
  void renew() override { lease_.renew(); }
  void release() override { lease_.release(); }

 private:
  control::Lease lease_;
  Lessor& lessor_;
  Lessor said_ = Lessor::there;
};

class ShakyLessor final : public control::Lessor {
 public:
  using Acquire = std::function<control::Lease(std::string_view uuid, Seconds term)>;

  ShakyLessor(Acquire acquire, ShakyLease::Lessor& state) : acquire_{std::move(acquire)}, state_{state} {}

  [[nodiscard]] bool offers(std::string_view /*uuid*/) const override { return true; }
  [[nodiscard]] std::unique_ptr<control::LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term,
                                                            control::Lends /*lends*/,
                                                            control::LessorPatience /*patience*/) override {
    return std::make_unique<ShakyLease>(acquire_(gpu.gpu->identity().uuid, term), state_);
  }
  [[nodiscard]] bool has_one(std::string_view /*uuid*/) override { return true; }

 private:
  Acquire acquire_;
  ShakyLease::Lessor& state_;
};

class ShakySessionTest : public SessionTest {
 protected:
  SessionParts shaky_parts() {
    SessionParts parts = training_.parts();
    std::vector<device::DiscoveredGpu> gpus;
    for (const SessionGpu& one : parts.gpus) {
      gpus.push_back({one.gpu, nullptr, one.index});
    }
    const auto book = std::make_shared<control::LeaseBook>(
        std::move(gpus), std::make_shared<ShakyLessor>(parts.acquire, lessor_), control::Lends::nothing,
        Error{ErrorKind::permission_denied, "nothing is leased here"});
    parts.acquire = [book](std::string_view uuid, Seconds term) { return book->acquire(uuid, term); };
    return parts;
  }

  ShakyLease::Lessor lessor_ = ShakyLease::Lessor::there;
};

TEST_F(ShakySessionTest, WhatIsHeldStaysWhereALessorThatWasRestartedHasSetItAgain) {
  Session session{shaky_parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  lessor_ = ShakyLease::Lessor::restarted;
  run_epochs(session, training_, 1, 10);
  session.confirm();
  EXPECT_THAT(of_kind<Unoptimized>(events_), IsEmpty());
  EXPECT_EQ(training_.limit(0), 150_W);
}

TEST_F(ShakySessionTest, WhatIsHeldIsLostOnceALessorThatIsAwayIsAskedToConfirmIt) {
  Session session{shaky_parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  lessor_ = ShakyLease::Lessor::away;
  run_epochs(session, training_, 1, 10);
  EXPECT_THAT(of_kind<Unoptimized>(events_), IsEmpty()) << "a restart takes a moment";
  session.confirm();
  ASSERT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_EQ(of_kind<Unoptimized>(events_)[0].why, "the daemon is away");
  EXPECT_FALSE(session.optimum() && session.result().applied);
}

TEST_F(SessionTest, ALessorThatIsBackBoundsTheLimitsByWhatItAllowsThen) {
  SessionParts parts = training_.parts();
  bool away = true;
  parts.acquire = [&, acquire = parts.acquire](std::string_view uuid, Seconds term) {
    if (away) {
      throw control::LessorAway{ErrorKind::timeout, "the daemon is away"};
    }
    return acquire(uuid, term);
  };
  parts.gpus.front().allowed = [&] {
    return away ? std::vector<device::WattRange>{}
                : std::vector<device::WattRange>{{.minimum = 170_W, .maximum = 230_W}};
  };
  Session session{std::move(parts), options_};
  run_epochs(session, training_, 1, 10);
  away = false;
  training_.clock().advance(2_s);
  run_epochs(session, training_, 1, 400);
  ASSERT_TRUE(session.optimum());
  EXPECT_THAT(of_kind<SettingRefused>(events_), IsEmpty());
  EXPECT_THAT(of_kind<SliceMeasured>(events_),
              testing::Each(testing::Field(&SliceMeasured::setting,
                                           testing::Field(&PowerSetting::limit, testing::AnyOf(175_W, 200_W, 225_W)))));
}

TEST_F(SessionTest, ASecondOneOfTheSameProcessIsOptimizedAsTheFirstWas) {
  Session first{training_.parts(), options_};
  run_epochs(first, training_, 1, 400);
  ASSERT_TRUE(first.optimum());
  events_.clear();
  {
    Session second{training_.parts(), options_};
    run_epochs(second, training_, 1, 400);
    ASSERT_TRUE(second.optimum());
    EXPECT_THAT(of_kind<SliceLost>(events_), IsEmpty());
    EXPECT_LE(cost_of(v100(), work_, *second.optimum()), 1.01 * best_cost(v100(), work_));
  }
  EXPECT_EQ(training_.limit(0), first.optimum()->limit);
  first.finish();
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(SessionTest, BetweenEpochsWhileProfilingTheLimitsAreAsFound) {
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  for (int step = 0; step < 30; ++step) {
    session.begin_step();
    training_.step();
  }
  ASSERT_TRUE(session.profiling());
  EXPECT_NE(training_.limit(0), 250_W);
  session.end_steps();
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(SessionTest, ASavedProfileDecidesWithoutASlice) {
  options_.files.profiles = folder_.path() / "profiles.json";
  options_.batch_size = 1024;
  std::optional<PowerSetting> optimum;
  {
    Session session{training_.parts(), options_};
    run_epochs(session, training_, 1, 400);
    optimum = session.optimum();
  }
  events_.clear();
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  EXPECT_EQ(training_.limit(0), optimum->limit);
  EXPECT_EQ(session.optimum(), optimum);
  EXPECT_THAT(of_kind<SliceMeasured>(events_), IsEmpty());
  EXPECT_EQ(of_kind<ProfilingDone>(events_).at(0).steps, 0U);
}

TEST_F(SessionTest, EachBatchSizeIsProfiledOnceAndKept) {
  options_.files.profiles = folder_.path() / "profiles.json";
  options_.batch_size = 1024;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  session.set_batch_size(512);
  run_epochs(session, training_, 1, 400);
  EXPECT_THAT(of_kind<ProfilingDone>(events_), SizeIs(2));
  events_.clear();
  session.set_batch_size(1024);
  run_epochs(session, training_, 1, 50);
  EXPECT_THAT(of_kind<SliceMeasured>(events_), IsEmpty());
  EXPECT_THAT(read_profiles(options_.files.profiles), SizeIs(2));
}

TEST_F(SessionTest, IsProfiledAgainWhenThroughputDrifts) {
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  ASSERT_THAT(of_kind<ProfilingBegun>(events_), SizeIs(1));
  work_.step *= 1.4;
  training_.set_work(work_);
  run_epochs(session, training_, 1, 600);
  ASSERT_THAT(of_kind<ProfilingBegun>(events_), SizeIs(2));
  EXPECT_THAT(of_kind<ProfilingBegun>(events_)[1].again, HasSubstr("what they took when they were profiled"));
  EXPECT_THAT(of_kind<ProfilingDone>(events_), SizeIs(2));
}

TEST_F(SessionTest, ATrainingThatEndsWhileItIsProfiledAgainSaysSo) {
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  work_.step *= 1.4;
  training_.set_work(work_);
  while (of_kind<ProfilingBegun>(events_).size() < 2) {
    run_epochs(session, training_, 1, 20);
  }
  session.finish();
  EXPECT_THAT(session.result().unoptimized, AllOf(HasSubstr("ended while its power limits were profiled again"),
                                                  HasSubstr("what they took when they were profiled")));
  EXPECT_TRUE(session.result().applied) << "a limit was in force before the steps drifted";
  EXPECT_TRUE(session.result().optimum);
  EXPECT_TRUE(session.result().profile.complete);
}

TEST_F(SessionTest, IsNotProfiledAgainWhenNothingDrifts) {
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 4, 1000);
  EXPECT_THAT(of_kind<ProfilingBegun>(events_), SizeIs(1));
}

TEST_F(SessionTest, StopsAtTheTarget) {
  options_.stopping.target = {.metric = 0.6, .higher_is_better = true};
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  session.report(0.59);
  ASSERT_TRUE(session.next_epoch());
  session.report(0.61);
  EXPECT_EQ(session.stop_reason(), StopReason::target_reached);
  EXPECT_FALSE(session.next_epoch());
  EXPECT_FALSE(session.next_epoch());
  EXPECT_TRUE(session.result().reached());
}

TEST_F(SessionTest, ATargetMayBeReachedFromAbove) {
  options_.stopping.target = {.metric = 0.4, .higher_is_better = false};
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  session.report(0.5);
  ASSERT_TRUE(session.next_epoch());
  session.report(0.4);
  EXPECT_FALSE(session.next_epoch());
}

TEST_F(SessionTest, StopsAtTheMaximumOfEpochs) {
  options_.stopping.max_epochs = 3;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 10, 20);
  EXPECT_EQ(session.result().stopped_by, StopReason::epochs_used_up);
  EXPECT_THAT(session.result().epochs, SizeIs(3));
}

TEST_F(SessionTest, NeverExceedsABudgetByAnEpochThatIsKnownNotToFit) {
  Joules epoch;
  {
    Session session{training_.parts(), options_};
    run_epochs(session, training_, 3, 400);
    session.finish();
    epoch = *session.result().epochs.at(2).cost;
  }
  for (const double budget : {2.5, 3.05, 4.9, 7.3}) {
    options_.stopping.cost_limit = epoch * budget;
    Session session{training_.parts(), options_};
    run_epochs(session, training_, 20, 400);
    session.finish();
    EXPECT_EQ(session.result().stopped_by, StopReason::too_expensive);
    EXPECT_LE(*session.result().cost, *options_.stopping.cost_limit);
    EXPECT_GT(*session.result().cost, *options_.stopping.cost_limit - 1.1 * epoch);
  }
}

TEST_F(SessionTest, ABudgetBelowOneEpochEndsItAfterThat) {
  options_.stopping.cost_limit = 1_J;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 20, 10);
  EXPECT_EQ(session.result().stopped_by, StopReason::too_expensive);
  EXPECT_THAT(session.result().epochs, SizeIs(1));
}

TEST_F(SessionTest, ObservingSetsInSlicesOnlyAndPredictsARunThatDidApplyTheOptimum) {
  const auto run = [&](TrainingMode mode, std::vector<VirtualTraining::Call>& calls) {
    VirtualTraining training{{v100(), v100(), v100(), v100()}, work_, 7};
    options_.mode = mode;
    events_.clear();
    Session session{training.parts(), options_};
    run_epochs(session, training, 20, 500);
    session.finish();
    calls = training.calls();
    return session.result();
  };
  std::vector<VirtualTraining::Call> calls;
  const TrainingResult applied = run(TrainingMode::optimize, calls);
  const TrainingResult observed = run(TrainingMode::observe, calls);
  ASSERT_TRUE(observed.prediction) << observed.no_prediction;
  EXPECT_FALSE(observed.applied);
  EXPECT_EQ(observed.optimum, applied.optimum);
  EXPECT_NEAR(observed.prediction->time / applied.time, 1, 0.02);
  EXPECT_NEAR(observed.prediction->energy.value / applied.energy->value, 1, 0.02);
  EXPECT_NEAR(observed.prediction->cost / *applied.cost, 1, 0.02);
  EXPECT_GT(observed.prediction->energy.uncertainty, 0_J);
}

TEST_F(SessionTest, ObservingLeavesEverythingAsFoundOutsideOfSlices) {
  options_.mode = TrainingMode::observe;
  Session session{training_.parts(), options_};
  bool in_slice = false;
  std::size_t seen = 0;
  options_.listener = {};
  for (int epoch = 0; epoch < 3 && session.next_epoch(); ++epoch) {
    for (int step = 0; step < 200; ++step) {
      session.begin_step();
      for (; seen < training_.calls().size(); ++seen) {
        in_slice = training_.calls()[seen].what != "power 250" || session.profiling();
        EXPECT_TRUE(session.profiling() || !in_slice) << training_.calls()[seen].what;
      }
      if (!session.profiling()) {
        EXPECT_EQ(training_.limit(0), 250_W);
      }
      training_.step();
    }
    session.end_steps();
    EXPECT_EQ(training_.limit(0), 250_W);
    EXPECT_EQ(training_.limit(3), 250_W);
  }
  EXPECT_FALSE(session.profiling());
}

TEST_F(SessionTest, PassiveObservingSetsNothingAndPredictsFromASavedProfile) {
  PowerProfile profile;
  {
    Session session{training_.parts(), options_};
    run_epochs(session, training_, 1, 500);
    profile = session.profile();
  }
  VirtualTraining training{{v100(), v100(), v100(), v100()}, work_, 3};
  options_.mode = TrainingMode::passive;
  options_.profiling.known = profile;
  Session session{training.parts(), options_};
  run_epochs(session, training, 4, 200);
  session.finish();
  EXPECT_THAT(training.calls(), IsEmpty());
  ASSERT_TRUE(session.result().prediction) << session.result().no_prediction;
  const test::SettledStep best = test::settled_step(v100(), work_, session.result().prediction->setting);
  EXPECT_NEAR(session.result().prediction->time.value(), 800 * best.time.value(), 0.03 * 800 * best.time.value());
}

TEST_F(SessionTest, PassiveObservingWithoutAProfileSaysThatItCannotPredict) {
  options_.mode = TrainingMode::passive;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 2, 50);
  session.finish();
  EXPECT_THAT(training_.calls(), IsEmpty());
  EXPECT_FALSE(session.result().prediction);
  EXPECT_EQ(session.result().no_prediction, "no profile is complete");
}

TEST_F(SessionTest, ASlowdownBoundIsHeld) {
  options_.goal = MaxSlowdown{.factor = 1.05, .confidence = 0.95};
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    VirtualTraining training{{v100()}, work_, seed};
    Session session{training.parts(), options_};
    run_epochs(session, training, 1, 600);
    ASSERT_TRUE(session.optimum());
    const Seconds fastest = test::settled_step(v100(), work_, {.limit = 250_W, .clock = {}}).time;
    broken += test::settled_step(v100(), work_, *session.optimum()).time > 1.05 * fastest ? 1 : 0;
    EXPECT_LT(session.optimum()->limit, 250_W) << "a bound of 5 % leaves something to save";
  }
  EXPECT_LE(broken, 2);
}

TEST_F(SessionTest, ClocksAreTriedIfNoLimitHoldsTheGpuBack) {
  work_.demand = physics::Demand::of_work(0.6, 0.05, 0.3);
  options_.goal = LeastEnergy{};
  VirtualTraining training{{v100(), v100()}, work_, 2};
  Session session{training.parts(), options_};
  run_epochs(session, training, 1, 800);
  ASSERT_TRUE(session.optimum());
  ASSERT_TRUE(session.optimum()->clock);
  EXPECT_LT(*session.optimum()->clock, v100().clocks.max);
  EXPECT_EQ(*training.gpu(1).locked_clocks(ClockDomain::graphics).optional().value(),
            (ClockRange{.minimum = v100().clocks.min, .maximum = *session.optimum()->clock}));
  session.finish();
  EXPECT_FALSE(training.gpu(1).locked_clocks(ClockDomain::graphics).optional().value());
}

TEST_F(SessionTest, ASelectorOfTheUsersOwnIsAsked) {
  options_.goal = PowerSelector{[](std::span<const LimitProfile> profiles) {
    return static_cast<std::size_t>(std::ranges::min_element(profiles, {}, &LimitProfile::limit) - profiles.begin());
  }};
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  EXPECT_EQ(session.optimum()->limit, 100_W);
}

TEST_F(SessionTest, ASelectorThatFailsLeavesTheTrainingUnoptimized) {
  options_.goal =
      PowerSelector{[](std::span<const LimitProfile>) -> std::size_t { throw std::runtime_error{"oh no"}; }};
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 2, 50);
  EXPECT_THAT(session.result().unoptimized, HasSubstr("oh no"));
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(SessionTest, AFailingListenerIsReportedOnceAndStopsNothing) {
  options_.listener = [](const TrainingEvent&) { throw std::runtime_error{"cannot listen"}; };
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  EXPECT_TRUE(session.optimum());
  EXPECT_THAT(said_, ElementsAre("the listener of the training failed: cannot listen"));
}

TEST_F(SessionTest, ProgressMayBeSeenFromOutsideInJumps) {
  Session session{training_.parts(), options_};
  session.begin_epoch();
  for (int line = 0; line < 200; ++line) {
    const int steps = 1 + line % 3;
    for (int step = 0; step < steps; ++step) {
      training_.step();
    }
    session.progress(static_cast<std::uint64_t>(steps));
  }
  session.end_epoch();
  session.finish();
  ASSERT_TRUE(session.optimum());
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.015 * best_cost(v100(), work_));
  EXPECT_EQ(session.result().epochs.at(0).steps, 399U);
}

TEST_F(SessionTest, StepsTooShortForACounterAreMeasuredTogether) {
  work_.step = 0.3_ms;
  VirtualTraining training{{v100(), v100()}, work_, 6};
  Session session{training.parts(), options_};
  run_epochs(session, training, 4, 3000);
  ASSERT_TRUE(session.optimum());
  EXPECT_LE(cost_of(v100(), work_, *session.optimum()), 1.02 * best_cost(v100(), work_));
}

TEST_F(SessionTest, AJobWithoutEpochsNeedsNone) {
  Session session{training_.parts(), options_};
  for (int step = 0; step < 400; ++step) {
    session.begin_step();
    training_.step();
  }
  EXPECT_TRUE(session.optimum());
  session.finish();
  EXPECT_THAT(session.result().epochs, SizeIs(1));
}

TEST_F(SessionTest, AFullSweepMeasuresEveryLimit) {
  options_.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  EXPECT_THAT(of_kind<SliceMeasured>(events_), SizeIs(7));
  EXPECT_TRUE(session.optimum());
}

TEST_F(SessionTest, ASweepTakesTheStepsItPromisedHoweverShortTheyAre) {
  TrainingWork quick = work_;
  quick.step = 0.001_s;
  VirtualTraining training{{v100()}, quick, 1};
  options_.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  Session session{training.parts(), options_};
  run_epochs(session, training, 1, 7 * 13 + 10);
  EXPECT_THAT(of_kind<SliceMeasured>(events_), SizeIs(7));
}

TEST_F(SessionTest, SlicesAreMeasuredWithTheProgramsOwnMeter) {
  options_.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  const auto slices = std::make_shared<ConstantSlices>(training_.clock(), Seconds{0});
  options_.profiling.slice_meter = slices;
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 1, 400);
  EXPECT_THAT(slices->limits, ElementsAre(250_W, 225_W, 200_W, 175_W, 150_W, 125_W, 100_W));
  for (const SliceMeasured& slice : of_kind<SliceMeasured>(events_)) {
    EXPECT_NEAR((slice.energy.value / slice.time).value(), 400, 1e-6);
  }
}

TEST_F(SessionTest, ASliceOfASweepThatIsTooShortToBeMeasuredGoesOn) {
  TrainingWork quick = work_;
  quick.step = 0.001_s;
  VirtualTraining training{{v100(), v100(), v100(), v100()}, quick, 1};
  options_.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  options_.profiling.slice_meter = std::make_shared<ConstantSlices>(training.clock(), 100_ms);
  Session session{training.parts(), options_};
  run_epochs(session, training, 1, 3000);
  const std::vector<SliceMeasured> measured = of_kind<SliceMeasured>(events_);
  ASSERT_THAT(measured, SizeIs(7));
  for (const SliceMeasured& slice : measured) {
    EXPECT_GT(slice.steps, 40U);
    EXPECT_NEAR(slice.time.value(), 0.1 * 10 / static_cast<double>(slice.steps), 0.001) << "as ten steps take";
  }
  EXPECT_THAT(said_, ElementsAre(HasSubstr("less than 0.1 s cannot be measured")));
}

TEST_F(SessionTest, ASliceThatAnEpochsEndKeepsTooShortIsLostAndReported) {
  TrainingWork quick = work_;
  quick.step = 0.001_s;
  VirtualTraining training{{v100(), v100(), v100(), v100()}, quick, 1};
  options_.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  options_.profiling.slice_meter = std::make_shared<ConstantSlices>(training.clock(), 100_ms);
  Session session{training.parts(), options_};
  run_epochs(session, training, 40, 20);
  EXPECT_THAT(of_kind<SliceMeasured>(events_), IsEmpty());
  const std::vector<SliceLost> lost = of_kind<SliceLost>(events_);
  ASSERT_FALSE(lost.empty());
  EXPECT_THAT(lost.front().why, HasSubstr("too short to be measured: it needs 0.1 s; give each limit more steps"));
}

TEST_F(SessionTest, HoldsASettingFromBeforeTheFirstEpochToTheEndAndMeasuresNothing) {
  options_.files.profiles = folder_.path() / "profiles.json";
  Session session{training_.parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  EXPECT_EQ(training_.limit(0), 150_W);
  EXPECT_EQ(training_.limit(3), 150_W);
  run_epochs(session, training_, 2, 100);
  EXPECT_EQ(training_.limit(3), 150_W);
  EXPECT_FALSE(session.profiling());
  EXPECT_EQ(session.optimum(), (PowerSetting{.limit = 150_W, .clock = {}}));
  EXPECT_TRUE(session.result().applied);
  EXPECT_THAT(session.profile().measurements, IsEmpty());
  session.finish();
  EXPECT_EQ(training_.limit(0), 250_W);
  ASSERT_THAT(of_kind<SettingApplied>(events_), SizeIs(1));
  EXPECT_TRUE(of_kind<SettingApplied>(events_)[0].optimum);
  EXPECT_THAT(of_kind<ProfilingBegun>(events_), IsEmpty());
  EXPECT_THAT(of_kind<ProfilingDone>(events_), IsEmpty());
  EXPECT_THAT(read_profiles(options_.files.profiles), IsEmpty());
}

TEST_F(SessionTest, WhatIsHeldIsGivenUpWithAReasonWhenItIsChangedFromElsewhere) {
  SessionParts parts = training_.parts();
  const auto acquire = parts.acquire;
  const std::string uuid = parts.gpus.at(2).gpu->identity().uuid;
  Session session{std::move(parts), options_};
  session.hold({.limit = 150_W, .clock = {}});
  run_epochs(session, training_, 1, 10);
  EXPECT_THAT(of_kind<Unoptimized>(events_), IsEmpty());
  control::Lease setter = acquire(uuid, 60_s);
  static_cast<void>(setter.set_power_limit(110_W));
  run_epochs(session, training_, 1, 10);
  ASSERT_THAT(of_kind<Unoptimized>(events_), SizeIs(1));
  EXPECT_THAT(of_kind<Unoptimized>(events_)[0].why,
              HasSubstr("was set to power limit 110 W from elsewhere in this process"));
  EXPECT_EQ(training_.limit(2), 110_W);
  EXPECT_EQ(training_.limit(0), 250_W);
}

TEST_F(SessionTest, HoldingASettingEndsProfilingAndKeepsItsMeasurements) {
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  while (of_kind<SliceMeasured>(events_).size() < 2) {
    session.begin_step();
    training_.step();
  }
  session.hold({.limit = 175_W, .clock = {}});
  EXPECT_FALSE(session.profiling());
  events_.clear();
  for (int step = 0; step < 400; ++step) {
    session.begin_step();
    training_.step();
  }
  session.set_batch_size(64);
  run_epochs(session, training_, 2, 400);
  EXPECT_EQ(training_.limit(0), 175_W);
  EXPECT_THAT(events_, ::testing::Each(::testing::VariantWith<EpochEnded>(::testing::_)));
  EXPECT_FALSE(session.profile().complete);
  EXPECT_THAT(session.profile().measurements, SizeIs(::testing::Le(2)));
}

TEST_F(SessionTest, AnotherSettingTakesThePlaceOfTheOneThatIsHeld) {
  Session session{training_.parts(), options_};
  session.hold({.limit = 150_W, .clock = {}});
  session.hold({.limit = 250_W, .clock = 900_MHz});
  EXPECT_EQ(training_.limit(2), 250_W);
  EXPECT_TRUE(training_.gpu(2).locked_clocks(ClockDomain::graphics).optional().value());
  session.hold({.limit = 200_W, .clock = {}});
  EXPECT_EQ(training_.limit(2), 200_W);
  EXPECT_FALSE(training_.gpu(2).locked_clocks(ClockDomain::graphics).optional().value());
}

TEST_F(SessionTest, CallsOutOfOrderAreErrors) {
  Session session{training_.parts(), options_};
  session.begin_step();
  EXPECT_THROW(session.progress(1), Error);
  session.finish();
  EXPECT_THROW(session.begin_step(), Error);
  EXPECT_THROW(static_cast<void>(session.next_epoch()), Error);
  EXPECT_THROW(session.hold({.limit = 150_W, .clock = {}}), Error);
  session.finish();
}

}  // namespace
}  // namespace zeus::train
