// Tests on the traces under fixtures/traces, which are made up so that every result can be computed by hand. With t
// seconds for the fastest epoch and eta 0.5, an epoch costs 220 t, 180 t and 200 t joules under 100, 150 and 200 W, and
// one that profiles all three costs 200 t.

#include "research/published_jobs.hpp"
#include "simulate/job_summary.hpp"
#include "tests/support/small_workload.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

namespace zeus::research {
namespace {

std::string read(const char* name) {
  std::ifstream file{std::filesystem::path{ZEUS_FIXTURES_FOLDER} / "traces" / name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const trace::TrainTrace& train() {
  static const trace::TrainTrace rows = trace::parse_train_trace("made_up_train.csv", read("made_up_train.csv"));
  return rows;
}

const trace::PowerTrace& power() {
  static const trace::PowerTrace rows = trace::parse_power_trace("made_up_power.csv", read("made_up_power.csv"));
  return rows;
}

simulate::Workload steady() {
  return select_published(train(), power(), {"made_up", "steady", "sgd", 0.9, 40, 64});
}

simulate::Workload scattered() {
  return select_published(train(), power(), {"made_up", "scattered", "sgd", 0.8, 60, 128});
}

// Runs at 150 W: 8 x 60 s, 9 epochs: 97,200 J; 16: 9 x 45 s: 72,900 J; 32: 10 x 30 s: 54,000 J; 64: 16 x 25 s: 72,000
// J.
TEST(MadeUpTrace, ItsOptimumIsTheOneComputedByHand) {
  const simulate::Workload workload = steady();
  EXPECT_EQ(workload.batch_sizes(), (std::vector{8, 16, 32, 64, 128}));
  const simulate::Stage stage{workload, 0.5};
  const simulate::Configuration& best = stage.optimum();
  EXPECT_EQ(workload.arms[best.arm].batch_size, 32);
  EXPECT_EQ(workload.arms[best.arm].limits[best.limit].limit, 150_W);
  EXPECT_DOUBLE_EQ(best.cost.value(), 54'000.0);
  EXPECT_DOUBLE_EQ(best.energy.value(), 120.0 * 337.5);
  EXPECT_DOUBLE_EQ(stage.default_configuration().cost.value(), 16 * 200.0 * 25.0);
  EXPECT_DOUBLE_EQ(stage.expected_cost(0, 0).value(), 9 * 220.0 * 60.0);
}

TEST(MadeUpTrace, AnUnmeasuredDefaultIsReplacedByTheLargestMeasured) {
  simulate::JobSelection job{"made_up", "scattered", "sgd", 0.8, 60, 48};
  EXPECT_EQ(select_published(train(), power(), job).default_batch_size, 128);
  job.default_batch_size = 256;  // measured, never trained
  EXPECT_EQ(select_published(train(), power(), job).default_batch_size, 128);
  job.default_batch_size = 16;
  EXPECT_EQ(select_published(train(), power(), job).default_batch_size, 16);
}

// Algorithm 3, try by try. Round one begins at the default 64 and goes down (32, 16, 8), then up: 128 may cost twice
// the cheapest recurrence, 2 x 54,600 J, which allows 30 epochs of 3,600 J, and fails. That ends round one with 32 as
// the cheapest. Round two begins there, in the same recurrence, and goes down among the sizes kept (16, 8), then up
// (64). After that the beliefs differ by a quarter or more, with deviations of some 2 %: Thompson sampling runs 32. The
// first run of each batch size pays 20 t for measuring the limits.
TEST(MadeUpTrace, ZeusFollowsAlgorithmThree) {
  const simulate::Workload workload = steady();
  const simulate::Stage stage{workload, 0.5};
  constexpr std::uint64_t recurrences = 20;
  using Try = std::tuple<std::uint64_t, int, int, double>;
  std::vector<Try> expected = {
      {0, 64, 16, 72'500}, {1, 32, 10, 54'600}, {2, 16, 9, 73'800}, {3, 8, 9, 98'400},   {4, 128, 30, 108'400},
      {4, 32, 10, 54'000}, {5, 16, 9, 72'900},  {6, 8, 9, 97'200},  {7, 64, 16, 72'000},
  };
  for (std::uint64_t recurrence = 8; recurrence < recurrences; ++recurrence) {
    expected.emplace_back(recurrence, 32, 10, 54'000);
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const simulate::SimulatedJob job = run(stage, "zeus", seed, recurrences);
    ASSERT_EQ(job.tries.size(), expected.size()) << "seed " << seed;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const simulate::TryResult& result = job.tries[i].result;
      const auto& [recurrence, batch_size, epochs, cost] = expected[i];
      EXPECT_EQ(job.tries[i].recurrence, recurrence) << "try " << i;
      EXPECT_EQ(workload.arms[result.arm].batch_size, batch_size) << "try " << i;
      EXPECT_EQ(result.epochs, epochs) << "try " << i;
      EXPECT_NEAR(result.cost.value(), cost, 1e-6) << "try " << i;
      EXPECT_EQ(result.outcome, batch_size == 128 ? records::TryOutcome::stopped : records::TryOutcome::reached);
    }
    simulate::JobSummary summary{stage, recurrences};
    summary.add(job);
    // The tries above cost 703,800 J up to recurrence 8, and eight of the optimum 432,000 J.
    EXPECT_NEAR(summary.regret().mean(), 271'800.0 / 54'000.0, 1e-9);
    EXPECT_NEAR(summary.last_energy_ratio().mean(), (120.0 * 337.5) / (200.0 * 400.0), 1e-12);
    EXPECT_NEAR(summary.last_time_ratio().mean(), 337.5 / 400.0, 1e-12);
  }
}

// The grid of four batch sizes and three limits, one cell in each recurrence, without 128 after its first failure; then
// the cheapest cell.
TEST(MadeUpTrace, GridRunsEveryCellOnceAndThenTheCheapest) {
  const simulate::Workload workload = steady();
  const simulate::Stage stage{workload, 0.5};
  std::vector<std::tuple<int, double>> expected;
  for (const int batch_size : {64, 8, 16, 32}) {
    for (const double limit : {200.0, 150.0, 100.0}) {
      expected.emplace_back(batch_size, limit);
    }
  }
  expected.emplace_back(128, 200.0);
  for (int exploited = 0; exploited < 3; ++exploited) {
    expected.emplace_back(32, 150.0);
  }
  std::vector<std::tuple<int, double>> seen;
  for (const simulate::SimulatedTry& attempt : run(stage, "grid", 1, 15).tries) {
    const simulate::WorkloadArm& arm = workload.arms[attempt.result.arm];
    seen.emplace_back(arm.batch_size, arm.limits[attempt.result.limit].limit.value());
  }
  EXPECT_EQ(seen, expected);
}

// 32 takes 10 epochs of 5,400 J on average, 64 takes 13 of 4,500 J: a twelfth more, and runs scatter by as much. In the
// end both policies run 32 in most recurrences, and lookahead has wasted less until then.
TEST(MadeUpTrace, BothPoliciesFindTheBestAmongScatteredRunsAndLookaheadWastesLess) {
  const simulate::Workload workload = scattered();
  EXPECT_EQ(workload.batch_sizes(), (std::vector{16, 32, 64, 128}));
  const simulate::Stage stage{workload, 0.5};
  EXPECT_DOUBLE_EQ(stage.optimum().cost.value(), 54'000.0);
  constexpr std::uint64_t recurrences = 24;
  simulate::JobSummary zeus{stage, recurrences};
  simulate::JobSummary lookahead{stage, recurrences};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    zeus.add(run(stage, "zeus", seed, recurrences));
    lookahead.add(run(stage, "lookahead", seed, recurrences));
  }
  EXPECT_LT(zeus.last_expected_cost_ratio().mean(), 1.0 + 0.5 / 12.0);
  EXPECT_LT(lookahead.last_expected_cost_ratio().mean(), 1.0 + 0.5 / 12.0);
  EXPECT_LT(lookahead.expected_regret().mean(), zeus.expected_regret().mean());
}

}  // namespace
}  // namespace zeus::research
