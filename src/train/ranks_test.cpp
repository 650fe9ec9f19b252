#include "tests/support/constant_slices.hpp"
#include "tests/support/session_fixture.hpp"
#include "tests/support/thread_ranks.hpp"
#include "tests/support/virtual_training.hpp"
#include "train/session.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace zeus::train {
namespace {

using test::Meeting;
using test::ThreadRank;
using test::TrainingWork;
using test::v100;
using test::VirtualTraining;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;

// What one rank saw, and its results.
struct RankOutcome {
  TrainingResult result;
  std::vector<Watts> limits;  // in the order in which they were set
  Joules truth;               // the true energy of its own GPUs
  Watts limit_while_trained;
  Watts limit_afterwards;
};

struct RankedRun {
  int ranks = 4;
  int gpus = 1;  // of each rank
  int steps = 400;
  int epochs = 2;
  std::uint64_t seed = 1;
  bool shared_gpus = false;  // every rank sees the same GPUs
  std::optional<int> dies;   // this rank, while it profiles
  TrainingOptions options;
  std::function<void(int rank, TrainingOptions& options, VirtualTraining& training)> prepare;
};

const TrainingWork& work() {
  static const TrainingWork cifar = test::work_of("cifar100", v100());
  return cifar;
}

RankOutcome run_rank(const RankedRun& run, int rank, const std::shared_ptr<Meeting>& meeting) {
  RankOutcome outcome;
  VirtualTraining training{std::vector<physics::GpuModel>(static_cast<std::size_t>(run.gpus), v100()), work(),
                           run.seed * 100 + static_cast<std::uint64_t>(rank), run.shared_gpus ? 0 : rank * run.gpus};
  TrainingOptions options = run.options;
  options.collective = std::make_shared<ThreadRank>(meeting, rank);
  options.listener = [&](const TrainingEvent& event) {
    if (const auto* const set = std::get_if<SettingApplied>(&event)) {
      outcome.limits.push_back(set->setting.limit);
    }
  };
  if (run.prepare) {
    run.prepare(rank, options, training);
  }
  Session session{training.parts(), options};
  const Joules before = training.energy();
  for (int epoch = 0; epoch < run.epochs && session.next_epoch(); ++epoch) {
    for (int step = 0; step < run.steps; ++step) {
      if (run.dies == rank && step == 60) {
        outcome.limit_while_trained = training.limit(0);
        return outcome;
      }
      session.begin_step();
      training.step();
    }
    session.end_steps();
  }
  outcome.limit_while_trained = training.limit(0);
  session.finish();
  outcome.truth = training.energy() - before;
  outcome.result = session.result();
  outcome.limit_afterwards = training.limit(0);
  return outcome;
}

std::vector<RankOutcome> run_all(const RankedRun& run) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  auto meeting = std::make_shared<Meeting>(run.ranks);
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(run.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < run.ranks; ++rank) {
    threads.emplace_back([&, rank] { outcomes[static_cast<std::size_t>(rank)] = run_rank(run, rank, meeting); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return outcomes;
}

TEST(Ranks, SetTheSameLimitsAndAddWhatEachMeasures) {
  for (const int ranks : {2, 4}) {
    int within = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RankedRun run;
      run.ranks = ranks;
      run.seed = seed;
      const std::vector<RankOutcome> outcomes = run_all(run);
      Joules truth;
      for (const RankOutcome& one : outcomes) {
        EXPECT_EQ(one.limits, outcomes[0].limits);
        EXPECT_FALSE(one.limits.empty());
        EXPECT_EQ(one.result.optimum, outcomes[0].result.optimum);
        EXPECT_EQ(one.limit_while_trained, outcomes[0].result.optimum->limit);
        EXPECT_EQ(one.limit_afterwards, 250_W);
        EXPECT_EQ(one.result.energy, outcomes[0].result.energy);
        EXPECT_EQ(one.result.gpus, static_cast<std::uint32_t>(ranks));
        truth += one.truth;
      }
      const Energy& energy = *outcomes[0].result.energy;
      within += std::abs((energy.value - truth).value()) <= energy.uncertainty.value() ? 1 : 0;
    }
    EXPECT_GE(within, 18) << "of 20 runs of " << ranks << " ranks";
  }
}

TEST(Ranks, TryOnlyTheLimitsThatThePoliciesOfAllNodesAllow) {
  RankedRun run;
  run.prepare = [](int rank, TrainingOptions& /*options*/, VirtualTraining& training) {
    if (rank == 1 || rank == 3) {
      training.bound(0, {{.minimum = 100_W, .maximum = rank == 1 ? 200_W : 240_W}});
    }
  };
  for (const RankOutcome& one : run_all(run)) {
    EXPECT_THAT(one.limits, Not(IsEmpty()));
    EXPECT_THAT(one.limits, Each(Le(200_W)));
    EXPECT_EQ(one.limit_afterwards, 250_W);
  }
}

TEST(Ranks, AGpuThatSeveralRanksSeeCountsOnce) {
  RankedRun run;
  run.gpus = 2;
  run.shared_gpus = true;
  const std::vector<RankOutcome> outcomes = run_all(run);
  EXPECT_EQ(outcomes[0].result.gpus, 2U);
  EXPECT_EQ(outcomes[3].result.gpus, 2U);
  EXPECT_NEAR(outcomes[0].result.energy->value / outcomes[0].truth, 1, 0.01);
  EXPECT_EQ(outcomes[0].result.max_power, 500_W);
  // The lowest rank alone sets it.
  EXPECT_EQ(outcomes[0].limit_while_trained, outcomes[0].result.optimum->limit);
  EXPECT_EQ(outcomes[1].limit_while_trained, 250_W);
}

TEST(Ranks, WhenOneDiesTheOthersTrainOnUnoptimizedAndNoneHangs) {
  RankedRun run;
  run.dies = 2;
  run.options.collective_patience = 0.2_s;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<RankOutcome> outcomes = run_all(run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{120});
  for (const int rank : {0, 1, 3}) {
    const RankOutcome& one = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_THAT(one.result.unoptimized, HasSubstr("the other ranks do not answer"));
    EXPECT_EQ(one.limit_while_trained, 250_W);
    EXPECT_EQ(one.result.epochs.size(), 2U);
  }
}

TEST(Ranks, WithoutPermissionInOneNoneIsOptimized) {
  RankedRun run;
  run.prepare = [](int rank, TrainingOptions&, VirtualTraining& training) {
    if (rank == 3) {
      training.gpu(0).set_faults({.reading = {}, .setting = Reason::permission, .ceiling = {}, .slowness = {}});
    }
  };
  for (const RankOutcome& one : run_all(run)) {
    EXPECT_FALSE(one.result.unoptimized.empty());
    EXPECT_EQ(one.limit_while_trained, 250_W);
    EXPECT_TRUE(one.result.energy);
  }
}

TEST(Ranks, ASelectorThatFailsOnTheFirstEndsOptimizingOnAll) {
  RankedRun run;
  run.options.goal =
      PowerSelector{[](std::span<const LimitProfile>) -> std::size_t { throw std::runtime_error{"oh no"}; }};
  for (const RankOutcome& one : run_all(run)) {
    EXPECT_THAT(one.result.unoptimized, HasSubstr("oh no"));
    EXPECT_EQ(one.limit_while_trained, 250_W);
  }
}

TEST(Ranks, GoOnTogetherWithASliceThatIsTooShortForAnyOfThem) {
  RankedRun run;
  run.steps = 3000;
  run.epochs = 1;
  run.options.profiling.plan = SweepProfiling{.settle = 3, .measure = 10};
  std::vector<std::vector<TrainingEvent>> events(static_cast<std::size_t>(run.ranks));
  run.prepare = [&](int rank, TrainingOptions& options, VirtualTraining& training) {
    const auto index = static_cast<std::size_t>(rank);
    options.profiling.slice_meter = std::make_shared<test::ConstantSlices>(training.clock(), Seconds{2.0 + 0.5 * rank});
    options.listener = [&events, index](const TrainingEvent& event) { events[index].push_back(event); };
  };
  const std::vector<RankOutcome> outcomes = run_all(run);
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].result.optimum, outcomes[0].result.optimum);
    EXPECT_THAT(test::of_kind<SliceLost>(events[rank]), IsEmpty());
    const std::vector<SliceMeasured> slices = test::of_kind<SliceMeasured>(events[rank]);
    ASSERT_EQ(slices.size(), 7U) << "rank " << rank;
    for (const SliceMeasured& slice : slices) {
      EXPECT_GE(slice.time * (static_cast<double>(slice.steps) / 10), 3.499_s) << "which rank 3 asks for";
    }
  }
}

TEST(Ranks, StopTogetherAlsoWhenOnlyTheFirstKnowsTheMetric) {
  auto meeting = std::make_shared<Meeting>(2);
  std::vector<int> epochs(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      VirtualTraining training{{v100()}, work(), 5, rank};
      TrainingOptions options;
      options.stopping.target = {.metric = 0.5};
      options.collective = std::make_shared<ThreadRank>(meeting, rank);
      Session session{training.parts(), options};
      while (session.next_epoch()) {
        ++epochs[static_cast<std::size_t>(rank)];
        if (rank == 0) {
          session.report(0.2 * epochs[0]);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(epochs[0], 3);
  EXPECT_EQ(epochs[1], 3);
}

// Two ranks, each with a GPU of its own; the second GPU has faults.
std::vector<std::vector<TrainingEvent>> hold_in_two(const backends::virtual_gpu::Faults& of_the_second) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  auto meeting = std::make_shared<Meeting>(2);
  std::vector<std::vector<TrainingEvent>> events(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      VirtualTraining training{{v100()}, work(), 5, rank};
      if (rank == 1) {
        training.gpu(0).set_faults(of_the_second);
      }
      TrainingOptions options;
      options.collective = std::make_shared<ThreadRank>(meeting, rank);
      options.listener = [&](const TrainingEvent& event) { events[static_cast<std::size_t>(rank)].push_back(event); };
      Session session{training.parts(), options};
      session.hold({.limit = 150_W, .clock = {}});
      test::run_epochs(session, training, 2, 50);
      EXPECT_EQ(training.limit(0), session.result().applied ? 150_W : 250_W);
      session.finish();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return events;
}

TEST(Ranks, HoldASettingTogether) {
  for (const std::vector<TrainingEvent>& events : hold_in_two({})) {
    EXPECT_EQ(test::of_kind<SettingApplied>(events).size(), 1U);
    EXPECT_THAT(test::of_kind<Unoptimized>(events), IsEmpty());
  }
}

TEST(Ranks, HoldNothingWhereOneMayNot) {
  for (const std::vector<TrainingEvent>& events :
       hold_in_two({.reading = {}, .setting = Reason::permission, .ceiling = {}, .slowness = {}})) {
    EXPECT_THAT(test::of_kind<SettingApplied>(events), IsEmpty());
    EXPECT_EQ(test::of_kind<Unoptimized>(events).size(), 1U);
  }
}

TEST(Ranks, ObserveTogether) {
  RankedRun run;
  run.ranks = 2;
  run.options.mode = TrainingMode::observe;
  const std::vector<RankOutcome> outcomes = run_all(run);
  for (const RankOutcome& one : outcomes) {
    ASSERT_TRUE(one.result.prediction) << one.result.no_prediction;
    EXPECT_EQ(one.result.prediction->setting, outcomes[0].result.prediction->setting);
    EXPECT_EQ(one.limit_while_trained, 250_W);
  }
}

}  // namespace
}  // namespace zeus::train
