// Algorithms 1 and 3 of the NSDI'23 paper, worked out by hand; algorithm 2 is in thompson_arm_test.cpp.

#include "optimize/batch_size/zeus_policy.hpp"

#include "base/random.hpp"
#include "tests/support/job_events.hpp"
#include "tests/support/restored_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace zeus::optimize {
namespace {

using records::TryOutcome;
using records::TryPurpose;
using test::ended;
using test::energy_job;
using test::submitted;

// A policy whose tries end one by one, as the test chooses.
class Walk {
 public:
  explicit Walk(const JobSpec& spec, ZeusPolicy::Pruning pruning = ZeusPolicy::Pruning::on)
      : spec_{spec}, profiles_{spec}, policy_{spec, pruning} {}

  [[nodiscard]] RunTry decide(std::uint64_t number) const {
    return std::get<RunTry>(policy_.decide({.number = number, .recurrence = 0, .spent = {}, .best = {}}, profiles_));
  }
  // The batch size of the next try.
  [[nodiscard]] int next() const { return spec_.batch_sizes[decide(number_).arm]; }
  [[nodiscard]] TryPurpose purpose() const { return decide(number_).purpose; }

  // Submits the next try; returns its number.
  std::uint64_t start() {
    const RunTry run = decide(number_);
    policy_.apply(submitted(number_, 0, spec_.batch_sizes[run.arm], run.purpose), profiles_);
    return number_++;
  }
  void end(std::uint64_t number, int batch_size, double cost, TryOutcome outcome = TryOutcome::reached,
           int epochs = 10) {
    policy_.apply(ended(number, 0, batch_size, cost, outcome, epochs), profiles_);
  }
  // Runs the next try from its start to its end; returns its batch size.
  int reach(double cost) {
    const int batch_size = next();
    end(start(), batch_size, cost);
    return batch_size;
  }
  int fail(double cost) {
    const int batch_size = next();
    end(start(), batch_size, cost, TryOutcome::stopped);
    return batch_size;
  }
  // Runs tries for as long as the walk explores. Each reaches the target at the cost of its batch size, or fails if it
  // has none.
  std::vector<int> explore(const std::map<int, double>& costs) {
    std::vector<int> seen;
    while (purpose() == TryPurpose::explore) {
      const auto cost = costs.find(next());
      seen.push_back(cost == costs.end() ? fail(1000.0) : reach(cost->second));
    }
    return seen;
  }
  // The batch sizes that many draws of the next decision give, and how often.
  [[nodiscard]] std::map<int, int> drawn(int draws = 200) const {
    std::map<int, int> sizes;
    for (int draw = 0; draw < draws; ++draw) {
      ++sizes[spec_.batch_sizes[decide(1000 + static_cast<std::uint64_t>(draw)).arm]];
    }
    return sizes;
  }

  [[nodiscard]] const JobSpec& spec() const { return spec_; }
  [[nodiscard]] ZeusPolicy& policy() { return policy_; }
  [[nodiscard]] ProfileBook& profiles() { return profiles_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  JobSpec spec_;
  ProfileBook profiles_;
  ZeusPolicy policy_;
  std::uint64_t number_ = 0;
};

JobSpec five_sizes() {
  return energy_job({8, 16, 32, 64, 128}, 32);
}

// Lines 2 to 9 of algorithm 3. Round one: 32; below it 16, 8; above it 64, 128. All converge, and 64 was cheapest.
// Round two: 64; below it 32, 16, 8; above it 128.
TEST(ZeusPolicy, ExploresTheDefaultThenDownThenUpAndAgainFromTheCheapest) {
  Walk walk{five_sizes()};
  EXPECT_EQ(walk.explore({{8, 90}, {16, 80}, {32, 70}, {64, 60}, {128, 75}}),
            (std::vector{32, 16, 8, 64, 128, 64, 32, 16, 8, 128}));
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
}

// The way down ends at 16, the way up at 128. Both, and the sizes beyond them, are out of the second round, which
// starts at 32 again.
TEST(ZeusPolicy, AFailureEndsItsDirectionAndExcludesItsBatchSize) {
  Walk walk{five_sizes()};
  EXPECT_EQ(walk.explore({{32, 60}, {64, 70}}), (std::vector{32, 16, 64, 128, 32, 64}));
  const std::map<int, int> drawn = walk.drawn();
  EXPECT_EQ(drawn.size(), 1U) << "64 costs a seventh more, at deviations of 2 %: only 32 is drawn";
  EXPECT_TRUE(drawn.contains(32));
}

// The default fails, which ends the way down; the larger sizes are explored. 64 is cheapest.
TEST(ZeusPolicy, ADefaultThatFailsLeavesTheLargerSizes) {
  Walk walk{five_sizes()};
  EXPECT_EQ(walk.explore({{8, 10}, {16, 20}, {64, 60}, {128, 70}}), (std::vector{32, 64, 128, 64, 128}));
}

// Round one from 32: 32, 16, 8, 64, 128. Round two from 64: 64 and 32 converge, 16 fails; above, 128 fails. 64 and 32
// are kept. 8 converged in round one, where only 64 was cheaper; it is out because the direction ended before it.
TEST(ZeusPolicy, TheSecondRoundPrunesToo) {
  Walk walk{energy_job({8, 16, 32, 64, 128}, 32)};
  for (const double cost : {70.0, 80.0, 61.0, 60.0, 90.0}) {
    walk.reach(cost);
  }
  EXPECT_EQ(walk.reach(60), 64);
  EXPECT_EQ(walk.reach(60), 32);
  EXPECT_EQ(walk.fail(500), 16);
  EXPECT_EQ(walk.fail(500), 128);
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
  const std::map<int, int> drawn = walk.drawn(2000);
  EXPECT_EQ(drawn.size(), 2U);
  EXPECT_TRUE(drawn.contains(64) && drawn.contains(32));
}

// If costs are equal, the batch size explored first counts as the cheapest: round two starts at the default again.
TEST(ZeusPolicy, TheFirstExploredOfEqualCostsStartsTheSecondRound) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(walk.explore({{8, 50}, {16, 50}, {32, 50}}), (std::vector{16, 8, 32, 16, 8, 32}));
}

TEST(ZeusPolicy, ADefaultAtEitherEndOfTheSetHasOneDirection) {
  EXPECT_EQ((Walk{energy_job({8, 16, 32}, 8)}.explore({{8, 50}, {16, 60}, {32, 70}})),
            (std::vector{8, 16, 32, 8, 16, 32}));
  EXPECT_EQ((Walk{energy_job({8, 16, 32}, 32)}.explore({{8, 50}, {16, 60}, {32, 40}})),
            (std::vector{32, 16, 8, 32, 16, 8}));
  EXPECT_EQ((Walk{energy_job({8}, 8)}.explore({{8, 50}})), (std::vector{8, 8}));
}

// Nothing converged in round one: only the default stays, so that the job can continue.
TEST(ZeusPolicy, TheDefaultStaysIfEverythingFails) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(walk.explore({}), (std::vector{16, 32}));
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
  EXPECT_EQ(walk.drawn(), (std::map<int, int>{{16, 200}}));
}

// All three converge in round one and fail in round two, which keeps none of them. Those that ever converged stay, and
// Thompson sampling judges them by their costs: 100 and 1000 average 550, the others more.
TEST(ZeusPolicy, BatchSizesThatEverConvergedStayIfTheSecondRoundFailsEntirely) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(walk.reach(100), 16);
  EXPECT_EQ(walk.reach(110), 8);
  EXPECT_EQ(walk.fail(1000), 32);
  EXPECT_EQ(walk.fail(1000), 16) << "from the cheapest, down; the direction ends there";
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
  EXPECT_EQ(walk.next(), 8) << "one cost gives no variance yet";
  EXPECT_EQ(walk.reach(1010), 8);
  const std::map<int, int> drawn = walk.drawn();
  EXPECT_TRUE(drawn.contains(8) && drawn.contains(16));
  EXPECT_FALSE(drawn.contains(32));
}

TEST(ZeusPolicy, WithoutPruningFailuresAreKeptAndEndNoDirection) {
  Walk walk{five_sizes(), ZeusPolicy::Pruning::off};
  EXPECT_EQ(walk.explore({{8, 90}, {32, 60}, {64, 50}}), (std::vector{32, 16, 8, 64, 128, 64, 32, 16, 8, 128}));
}

// A lost try shows nothing about its batch size: it is explored again, in either round.
TEST(ZeusPolicy, ALostTryIsExploredAgain) {
  Walk walk{energy_job({8, 16}, 16)};
  walk.end(walk.start(), 16, 5.0, TryOutcome::lost);
  EXPECT_EQ(walk.reach(50), 16);
  EXPECT_EQ(walk.reach(60), 8);
  walk.end(walk.start(), 16, 5.0, TryOutcome::lost);
  EXPECT_EQ(walk.purpose(), TryPurpose::explore);
  EXPECT_EQ(walk.reach(50), 16);
  EXPECT_EQ(walk.reach(60), 8);
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
  // The cost of a lost try does not count for its batch size: 50 and 50, with the minimum of 2 %, over two costs.
  const std::optional<CostBelief> belief = walk.policy().beliefs(walk.profiles())[1];
  EXPECT_NEAR(belief->expected.value(), 50.0, 1e-9);
}

// Section 4.4, concurrent submissions: while an exploration is undecided, the best batch size known so far runs
// concurrently. Its cost enters the belief, but does not decide the walk.
TEST(ZeusPolicy, ConcurrentSubmissionsRunTheBestKnownDuringAnExploration) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  const std::uint64_t first = walk.start();
  EXPECT_EQ(walk.purpose(), TryPurpose::concurrent);
  EXPECT_EQ(walk.next(), 16) << "nothing has ended: the default";
  walk.end(first, 16, 50.0);
  EXPECT_EQ(walk.purpose(), TryPurpose::explore);
  EXPECT_EQ(walk.reach(40), 8);
  const std::uint64_t third = walk.start();
  EXPECT_EQ(walk.purpose(), TryPurpose::concurrent);
  EXPECT_EQ(walk.next(), 8) << "the cheapest that converged";
  const std::uint64_t beside = walk.start();
  walk.end(beside, 8, 45.0);
  EXPECT_EQ(walk.purpose(), TryPurpose::concurrent);
  const std::uint64_t failing = walk.start();
  walk.end(failing, 8, 1.0, TryOutcome::stopped);
  EXPECT_EQ(walk.next(), 8);
  EXPECT_EQ(walk.purpose(), TryPurpose::concurrent);
  walk.end(third, 32, 30.0);
  EXPECT_EQ(walk.next(), 32) << "round two starts at the cheapest";
  EXPECT_EQ(walk.purpose(), TryPurpose::explore);
  // 8 was explored once, at 40, and ran concurrently at 45 and 1.
  EXPECT_NEAR(walk.policy().beliefs(walk.profiles())[0]->expected.value(), 86.0 / 3.0, 1e-9);
}

TEST(ZeusPolicy, ACheapFailureIsNeverTheBestKnown) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(walk.reach(50), 16);
  EXPECT_EQ(walk.fail(1), 8);
  walk.start();
  EXPECT_EQ(walk.next(), 16);
}

// A try that was not allowed a single epoch cost nothing; it counts as 100 x beta x the least cost.
TEST(ZeusPolicy, ATryWithoutAnEpochCountsAsExpensive) {
  Walk walk{energy_job({8, 16}, 16)};
  EXPECT_EQ(walk.reach(50), 16);
  walk.end(walk.start(), 8, 0.0, TryOutcome::stopped, 0);
  EXPECT_NEAR(walk.policy().beliefs(walk.profiles())[0]->expected.value(), 100.0 * 2.0 * 50.0, 1e-6);
  Walk nothing_known{energy_job({8, 16}, 16)};
  nothing_known.end(nothing_known.start(), 16, 7.0, TryOutcome::stopped, 0);
  EXPECT_NEAR(nothing_known.policy().beliefs(nothing_known.profiles())[1]->expected.value(), 7.0, 1e-9);
}

// Algorithm 1: one draw from the belief of each batch size kept; the least wins. 16 cost 98 and 102 J: N(100, 2), a
// variance of 4 over two costs. 8 cost 97 and 107 J: N(102, 12.5). Both variances are at or above the minimum, which is
// close to 4.
TEST(ZeusPolicy, RunsTheArmWithTheLeastDraw) {
  JobSpec spec = energy_job({8, 16, 32}, 16);
  spec.seed = 77;
  Walk walk{spec};
  EXPECT_EQ(walk.reach(98), 16);
  EXPECT_EQ(walk.reach(97), 8);
  EXPECT_EQ(walk.fail(500), 32);
  EXPECT_EQ(walk.reach(107), 8);
  EXPECT_EQ(walk.reach(102), 16);
  EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
  int smaller = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const double eight = Random{77, number, 0}.normal(102.0, std::sqrt(12.5));
    const double sixteen = Random{77, number, 1}.normal(100.0, std::sqrt(2.0));
    const RunTry run = walk.decide(number);
    EXPECT_EQ(run.arm, eight < sixteen ? 0U : 1U) << number;
    EXPECT_EQ(run.purpose, TryPurpose::exploit);
    EXPECT_FALSE(run.limit || run.max_epochs || run.usual_cost || run.profile);
    smaller += eight < sixteen ? 1 : 0;
  }
  EXPECT_GT(smaller, 30);
  EXPECT_LT(smaller, 270);
}

TEST(ZeusPolicy, ReportsA95PercentIntervalOf196Deviations) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  walk.reach(98);
  walk.reach(60);
  walk.end(walk.start(), 32, 5.0, TryOutcome::lost);
  walk.policy().apply(ended(99, 9, 16, 102.0), walk.profiles());
  const std::vector<std::optional<CostBelief>> beliefs = walk.policy().beliefs(walk.profiles());
  ASSERT_EQ(beliefs.size(), 3U);
  EXPECT_FALSE(beliefs[2]);
  // N(100, 2), as above.
  EXPECT_NEAR(beliefs[1]->expected.value(), 100.0, 1e-9);
  EXPECT_NEAR(beliefs[1]->low.value(), 100.0 - 1.959964 * std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(beliefs[1]->high.value(), 100.0 + 1.959964 * std::sqrt(2.0), 1e-5);
  EXPECT_FALSE(beliefs[1]->epochs);
}

// A firm prior far below the costs seen: N(40, 1) for 64, against costs of 70 for 32 and 80 for 64 (deviations of 2 %
// over two costs: 0.99 and 1.13). The posterior of 64 lies at (40 / 1 + 80 / 1.28) / (1 + 1 / 1.28) = 57.5, so it wins
// each draw.
TEST(ZeusPolicy, StartsFromItsPriors) {
  JobSpec spec = energy_job({32, 64}, 32);
  Walk without{spec};
  without.explore({{32, 70}, {64, 80}});
  EXPECT_EQ(without.drawn(), (std::map<int, int>{{32, 200}}));
  spec.priors = {{.batch_size = 64, .mean = 40_J, .deviation = 1_J}};
  Walk with{spec};
  EXPECT_FALSE(with.policy().beliefs(with.profiles())[0]);
  EXPECT_EQ(with.policy().beliefs(with.profiles())[1]->expected, 40_J);
  with.explore({{32, 70}, {64, 80}});
  EXPECT_EQ(with.drawn(), (std::map<int, int>{{64, 200}}));
}

// With a window of two, the costs of 50 are forgotten after two costs of 100, and 60 is then the better arm.
TEST(ZeusPolicy, AWindowForgetsOldCosts) {
  for (const std::size_t window : {std::size_t{0}, std::size_t{2}}) {
    JobSpec spec = energy_job({8, 16}, 16);
    spec.window = window;
    Walk walk{spec};
    walk.explore({{8, 60}, {16, 50}});
    EXPECT_EQ(walk.drawn(), (std::map<int, int>{{16, 200}}));
    walk.policy().apply(ended(70, 7, 16, 100.0), walk.profiles());
    walk.policy().apply(ended(71, 7, 16, 100.0), walk.profiles());
    if (window == 2) {
      EXPECT_EQ(walk.drawn(), (std::map<int, int>{{8, 200}}));
    } else {
      EXPECT_GT(walk.drawn()[16], 0) << "75 with a deviation of 12.5";
    }
  }
}

// A window of one never holds more than one cost. Draws use that cost, and no arm runs to get a second one.
TEST(ZeusPolicy, AWindowOfOneDrawsFromSingleCosts) {
  JobSpec spec = energy_job({8, 16}, 16);
  spec.window = 1;
  Walk walk{spec};
  walk.explore({{8, 50}, {16, 60}});
  EXPECT_EQ(walk.drawn(), (std::map<int, int>{{8, 200}}));
}

// Exploration began on the former devices: 16 cost 50 J and 8 cost 40 J, with epochs of 5 and 4 J. On the new devices
// an epoch of 16 takes 10 J and one of 8 takes 12 J. The costs become 100 and 120 J, so 16 is the cheapest now.
TEST(ZeusPolicy, ConvertsCostsToTheEpochCostsOfOtherDevices) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  const auto measure = [&walk](int batch_size, double epoch_cost) {
    const records::LimitsProfiled profiled{.recurrence = 0,
                                           .batch_size = batch_size,
                                           .limits = {test::measured(200_W, epoch_cost)},
                                           .energy = {},
                                           .time = {}};
    walk.profiles().add(walk.spec().arm_of(batch_size), profiled.limits);
    walk.policy().apply(profiled, walk.profiles());
  };
  measure(16, 5.0);
  EXPECT_EQ(walk.reach(50), 16);
  measure(8, 4.0);
  EXPECT_EQ(walk.reach(40), 8);
  EXPECT_EQ(walk.next(), 32);
  const records::DeviceChanged changed{.model = "other", .max_power = 300_W, .power_limits = {250_W, 300_W}};
  walk.profiles().restart(changed.max_power);
  walk.policy().apply(changed, walk.profiles());
  for (const auto& [arm, batch_size, epoch_cost] :
       std::vector<std::tuple<std::size_t, int, double>>{{0, 8, 12.0}, {1, 16, 10.0}}) {
    const Decision decision =
        walk.policy().decide({.number = 9, .recurrence = 9, .spent = {}, .best = {}}, walk.profiles());
    ASSERT_TRUE(std::holds_alternative<ProfileLimits>(decision));
    EXPECT_EQ(std::get<ProfileLimits>(decision).arm, arm);
    EXPECT_EQ(std::get<ProfileLimits>(decision).limits, changed.power_limits);
    measure(batch_size, epoch_cost);
  }
  const auto beliefs = walk.policy().beliefs(walk.profiles());
  EXPECT_NEAR(beliefs[0]->expected.value(), 120.0, 1e-9);
  EXPECT_NEAR(beliefs[1]->expected.value(), 100.0, 1e-9);
  EXPECT_EQ(walk.fail(900), 32) << "32 has not run before and is measured during its run";
  EXPECT_EQ(walk.next(), 16) << "the cheapest by its cost here";
  // The least cost on the former devices does not bound costs here, so a try without an epoch has nothing to compare
  // with.
  measure(16, 10.0);
  EXPECT_NEAR(walk.policy().beliefs(walk.profiles())[1]->expected.value(), 100.0, 1e-9) << "measured again: the same";
}

TEST(ZeusPolicy, FindsTheBestKnownAgainOnOtherDevices) {
  Walk walk{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(walk.reach(50), 16);
  EXPECT_EQ(walk.reach(40), 8);
  walk.policy().apply(records::DeviceChanged{.model = "other", .max_power = 300_W}, walk.profiles());
  const std::uint64_t exploration = walk.start();
  EXPECT_EQ(walk.next(), 8) << "the best of the former devices, until something is known";
  walk.policy().apply(ended(80, 8, 16, 500.0), walk.profiles());
  EXPECT_EQ(walk.next(), 16) << "the only one that has converged here, whatever it costs";
  walk.end(exploration, 32, 600.0);
}

TEST(ZeusPolicy, ContinuesFromItsSavedState) {
  const auto profiled = [](int batch_size, Watts limit, double epoch_cost) {
    return records::LimitsProfiled{.recurrence = 0,
                                   .batch_size = batch_size,
                                   .limits = {test::measured(limit, epoch_cost)},
                                   .energy = {},
                                   .time = {}};
  };
  const std::vector<records::JobEvent> history = {
      profiled(16, 200_W, 2),
      submitted(0, 0, 16, TryPurpose::explore),
      ended(0, 0, 16, 50),
      profiled(8, 200_W, 2),
      submitted(1, 1, 8, TryPurpose::explore),
      submitted(2, 2, 16, TryPurpose::concurrent),
      ended(2, 2, 16, 55),
      ended(1, 1, 8, 40),
      submitted(3, 3, 32, TryPurpose::explore),
      ended(3, 3, 32, 4, TryOutcome::lost),
      submitted(4, 4, 32, TryPurpose::explore),
      ended(4, 4, 32, 90, TryOutcome::stopped),
      submitted(5, 4, 8, TryPurpose::explore),
      ended(5, 4, 8, 42),
      submitted(6, 5, 16, TryPurpose::explore),
      ended(6, 5, 16, 48),
      submitted(7, 6, 8),
      ended(7, 6, 8, 44),
      records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {300_W}},
      profiled(8, 300_W, 3),
      submitted(8, 7, 8),
      ended(8, 7, 8, 0, TryOutcome::stopped, 0),
  };
  for (const std::size_t window : {std::size_t{0}, std::size_t{2}}) {
    JobSpec spec = energy_job({8, 16, 32, 64}, 16);
    spec.window = window;
    test::expect_goes_on_from_its_saved_state(
        spec, [&spec] { return std::make_unique<ZeusPolicy>(spec); }, history);
  }
}

JobSpec with(const records::ZeusChoices& choices) {
  JobSpec spec = energy_job({8, 16, 32}, 16);
  spec.zeus = choices;
  return spec;
}

TEST(ZeusPolicyTest, PrunesForTheGivenNumberOfRounds) {
  const std::map<int, double> costs{{8, 100.0}, {16, 120.0}, {32, 150.0}};
  Walk once{with({.pruning_rounds = 1})};
  EXPECT_EQ(once.explore(costs), (std::vector{16, 8, 32}));
  Walk thrice{with({.pruning_rounds = 3})};
  EXPECT_EQ(thrice.explore(costs), (std::vector{16, 8, 32, 8, 16, 32, 8, 16, 32}));
}

TEST(ZeusPolicyTest, WithoutPruningEachBatchSizeRunsTheGivenNumberOfTimesAndNoneIsDropped) {
  Walk walk{with({.pruning_rounds = 0, .explorations = 3})};
  std::map<int, int> seen;
  for (int run = 0; run < 9; ++run) {
    EXPECT_EQ(walk.purpose(), TryPurpose::exploit);
    // The smallest never reaches the target; without pruning it is kept anyway.
    const int size = walk.next() == 8 ? walk.fail(100.0) : walk.reach(100.0);
    ++seen[size];
  }
  EXPECT_EQ(seen, (std::map<int, int>{{8, 3}, {16, 3}, {32, 3}}));
  EXPECT_EQ(walk.drawn().size(), 3U);
}

TEST(ZeusPolicyTest, AfterOneRoundItExploresBatchSizesWithTooFewCosts) {
  Walk walk{with({.pruning_rounds = 1, .explorations = 3})};
  static_cast<void>(walk.explore({{16, 120.0}, {32, 150.0}}));
  std::map<int, int> seen;
  for (int run = 0; run < 4; ++run) {
    ++seen[walk.reach(100.0 + run)];
  }
  EXPECT_EQ(seen, (std::map<int, int>{{16, 2}, {32, 2}})) << "8 has failed";
}

TEST(ZeusPolicyTest, AWindowShorterThanTheExplorationsEndsThem) {
  JobSpec spec = with({.pruning_rounds = 1, .explorations = 5});
  spec.window = 2;
  Walk walk{spec};
  static_cast<void>(walk.explore({{8, 100.0}, {16, 120.0}, {32, 150.0}}));
  std::map<int, int> seen;
  for (int run = 0; run < 3; ++run) {
    ++seen[walk.reach(100.0 + run)];
  }
  EXPECT_EQ(seen, (std::map<int, int>{{8, 1}, {16, 1}, {32, 1}}));
  EXPECT_GT(walk.drawn().size(), 1U) << "it draws from then on";
}

TEST(ZeusPolicyTest, APriorBeliefIsWeighedAgainstTheCostsSeen) {
  // Two costs of 100 and 120: a mean of 110, whose variance is 100 / 2. The prior is as firm as these.
  const auto believed = [](const records::ZeusChoices& choices) {
    Walk walk{with(choices)};
    walk.end(walk.start(), 16, 100.0);
    walk.end(walk.start(), 16, 120.0);
    return walk.policy().beliefs(walk.profiles())[1].value();
  };
  EXPECT_DOUBLE_EQ(believed({}).expected.value(), 110.0);
  const CostBelief belief = believed({.prior_cost = Joules{210.0}, .prior_precision = 1.0 / 50.0});
  EXPECT_DOUBLE_EQ(belief.expected.value(), 160.0);
  EXPECT_NEAR((belief.high - belief.low).value(), 2 * 1.959963984540054 * 5.0, 1e-9);
}

TEST(ZeusPolicyTest, DrawsAtOnceFromAFirmPriorWithoutExplorations) {
  const Walk walk{with({.pruning_rounds = 0, .explorations = 0, .prior_cost = Joules{100.0}, .prior_precision = 1.0})};
  EXPECT_EQ(walk.drawn().size(), 3U);
}

TEST(ZeusPolicyTest, ContinuesFromItsSavedStateWithAnyNumberOfRounds) {
  for (const std::size_t rounds : {0U, 1U, 4U}) {
    const JobSpec spec = with({.pruning_rounds = rounds});
    test::expect_goes_on_from_its_saved_state(
        spec, [&] { return std::make_unique<ZeusPolicy>(spec); },
        {submitted(0, 0, 16, TryPurpose::explore), ended(0, 0, 16, 120.0), submitted(1, 1, 8, TryPurpose::explore),
         ended(1, 1, 8, 100.0, TryOutcome::stopped), submitted(2, 2, 32, TryPurpose::explore), ended(2, 2, 32, 90.0),
         submitted(3, 3, 32), ended(3, 3, 32, 95.0)});
  }
}

}  // namespace
}  // namespace zeus::optimize
