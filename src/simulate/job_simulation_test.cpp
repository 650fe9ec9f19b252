#include "simulate/job_summary.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/small_workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::simulate {
namespace {

TEST(JobSimulation, NoPolicyLeavesTheSetOrOverrunsItsBudget) {
  for (const double eta : {0.0, 0.5, 1.0}) {
    const Workload workload = small_workload();
    const Stage stage{workload, eta};
    for (const std::string_view policy : optimize::policy_names()) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::optional<Joules> least;
        const SimulatedJob job = run(stage, policy, seed);
        std::map<std::uint64_t, Joules> spent;
        for (const SimulatedTry& attempt : job.tries) {
          ASSERT_LT(attempt.result.arm, workload.arms.size());
          const Joules extra =
              attempt.result.profiled ? stage.cost().of_epoch(workload.arms[attempt.result.arm].limits[0]) : Joules{};
          if (least) {
            EXPECT_LE(attempt.result.cost, 2.0 * *least + extra) << policy << " seed " << seed;
          }
          spent[attempt.recurrence] += attempt.result.cost;
          if (records::reached(attempt.result.outcome)) {
            const Joules whole = job.recurrences[attempt.recurrence].cost;
            least = std::min(whole, least.value_or(whole));
          }
        }
      }
    }
  }
}

// A trace may know a batch size under some limits only: the highest, the lowest, or those between.
TEST(JobSimulation, ATraceNeedNotHaveEveryLimitOfEveryBatchSize) {
  const std::size_t arms = small_workload().arms.size();
  for (std::size_t arm = 0; arm < arms; ++arm) {
    for (const auto& [from, to] :
         {std::pair{0, 1}, std::pair{1, 2}, std::pair{0, 2}, std::pair{2, 3}, std::pair{1, 3}}) {
      Workload workload = small_workload();
      std::vector<records::LimitProfile>& limits = workload.arms[arm].limits;
      ASSERT_EQ(limits.size(), 3U);
      limits = {limits.begin() + from, limits.begin() + to};
      if (workload.arms[arm].batch_size == workload.default_batch_size && to < 3) {
        continue;  // the default ran under the highest
      }
      const Stage stage{workload, 0.5};
      for (const bool live : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
          SimulationOptions options{.recurrences = 30};
          options.live = live;
          const SimulatedJob job = simulate_job(phases, options, named("lookahead"), seed);
          EXPECT_EQ(job.recurrences.size(), 30U);
          for (const SimulatedTry& attempt : job.tries) {
            EXPECT_LT(attempt.result.limit, workload.arms[attempt.result.arm].limits.size());
          }
        }
      }
    }
  }
}

// A decision is a function of the events before it: folding the history again at any point, as after a restart or with
// a dropped cache, decides the same.
TEST(JobSimulation, ADroppedStateDecidesTheSame) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  for (const std::string_view policy : optimize::policy_names()) {
    const SimulatedJob job = run(stage, policy, 3, 15, policy == "grid" ? 1 : 3);
    const optimize::JobSpec spec = job_spec(stage, {}, 3);
    optimize::RecurringJob kept{spec, optimize::make_policy(policy, spec)};
    for (std::size_t known = 0; known < job.events.size(); ++known) {
      optimize::RecurringJob fresh{spec, optimize::make_policy(policy, spec)};
      for (std::size_t event = 0; event < known; ++event) {
        fresh.apply(job.events[event]);
      }
      const optimize::RecurringJob copied{kept};
      const auto describe = [](const optimize::Action& action) {
        if (const auto* go = std::get_if<records::TryPlan>(&action)) {
          return fmt::format("run {} {} {} {}", go->batch_size, go->limit.value_or(Watts{}).value(), go->max_epochs,
                             go->budget.value_or(Joules{}).value());
        }
        const auto* profile = std::get_if<records::ProfileAsked>(&action);
        return profile == nullptr ? std::string{"give up"}
                                  : fmt::format("profile {} {}", profile->batch_size, profile->limits.size());
      };
      const std::string expected = describe(kept.next(100, 1000 + known));
      EXPECT_EQ(describe(fresh.next(100, 1000 + known)), expected);
      EXPECT_EQ(describe(copied.next(100, 1000 + known)), expected);
      kept.apply(job.events[known]);
    }
  }
}

TEST(JobSimulation, DecisionsAreTheSameUnderEveryCompiler) {
  const Workload workload = small_workload();
  std::string text;
  for (const std::string_view policy : optimize::policy_names()) {
    for (const int in_flight : {1, 4}) {
      const Stage stage{workload, 0.5};
      text += fmt::format("{} {} in flight:", policy, in_flight);
      for (const SimulatedTry& attempt : run(stage, policy, 11, 40, in_flight).tries) {
        const WorkloadArm& arm = workload.arms[attempt.result.arm];
        text += fmt::format(" {}:{}@{:.0f}x{}", attempt.recurrence, arm.batch_size,
                            arm.limits[attempt.result.limit].limit.value(), attempt.result.epochs);
      }
      text += '\n';
    }
  }
  test::expect_golden("simulate/decisions.txt", text);
}

std::string decisions(const SimulatedJob& job) {
  std::string text;
  for (const SimulatedTry& attempt : job.tries) {
    text += fmt::format("{} {} {} {};", attempt.recurrence, attempt.result.arm, attempt.result.limit,
                        attempt.result.cost.value());
  }
  return text;
}

// A simulation runs on one thread; any number of them may share a stage, and see the same runs as alone.
TEST(JobSimulation, ThreadsThatShareAStageDecideLikeOneThread) {
  constexpr std::uint64_t seeds = 12;
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  for (const std::string_view policy : {"zeus", "lookahead"}) {
    const auto on_threads = [&](std::size_t threads) {
      std::vector<std::string> found(seeds);
      std::vector<std::jthread> running;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
          for (std::size_t seed = thread; seed < seeds; seed += threads) {
            found[seed] = decisions(run(stage, policy, seed, 20));
          }
        });
      }
      running.clear();
      return found;
    };
    const std::vector<std::string> alone = on_threads(1);
    EXPECT_NE(alone[0], alone[1]);
    EXPECT_EQ(on_threads(2), alone) << policy;
    EXPECT_EQ(on_threads(5), alone) << policy;
  }
}

// Policy zeus weighs the prior against what it saw: a belief far firmer than two costs decides, one far looser does
// not.
TEST(JobSimulation, ZeusStartsFromThePriorBeliefsItIsGiven) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const auto later_tries_of = [&](int batch_size, std::vector<optimize::PriorBelief> priors) {
    const PolicyFactory believing = [&](optimize::JobSpec spec) {
      spec.priors = priors;
      return optimize::make_policy("zeus", optimize::checked(spec));
    };
    const SimulatedJob job = simulate_job(phases, {.recurrences = 60}, believing, 4);
    return std::ranges::count_if(job.tries, [&](const SimulatedTry& attempt) {
      return attempt.recurrence >= 40 && workload.arms[attempt.result.arm].batch_size == batch_size;
    });
  };
  const Joules best = stage.optimum().cost;
  ASSERT_NE(workload.arms[stage.optimum().arm].batch_size, 64);
  EXPECT_LE(later_tries_of(64, {}), 5);
  EXPECT_EQ(later_tries_of(64, {{.batch_size = 64, .mean = best * 0.1, .deviation = best * 1e-4}}), 20);
  EXPECT_EQ(later_tries_of(64, {{.batch_size = 64, .mean = best * 0.1, .deviation = best * 1e6}}),
            later_tries_of(64, {}));
}

TEST(JobSimulation, ZeusStartsWithItsPriorsBeforeTheFirstRun) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  optimize::JobSpec spec = job_spec(stage, {}, 1);
  spec.priors = {{.batch_size = 32, .mean = 1000_J, .deviation = 10_J}};
  const auto policy = optimize::make_policy("zeus", optimize::checked(spec));
  const auto beliefs = policy->beliefs(optimize::ProfileBook{spec});
  EXPECT_FALSE(beliefs[spec.arm_of(16)]);
  const auto& belief = beliefs[spec.arm_of(32)];
  ASSERT_TRUE(belief);
  EXPECT_EQ(belief->expected, 1000_J);
  EXPECT_NEAR(belief->low.value(), 980.4, 0.01);
  spec.priors[0].batch_size = 33;
  EXPECT_THROW(optimize::checked(spec), Error);
  spec.priors[0] = {.batch_size = 32, .mean = 1000_J, .deviation = 0_J};
  EXPECT_THROW(optimize::checked(spec), Error);
}

TEST(JobSimulation, LookaheadWastesLessThanZeus) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  JobSummary zeus{stage, 40};
  JobSummary lookahead{stage, 40};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    zeus.add(run(stage, "zeus", seed));
    lookahead.add(run(stage, "lookahead", seed));
  }
  EXPECT_LT(lookahead.expected_regret().mean(), 0.6 * zeus.expected_regret().mean());
  EXPECT_LT(lookahead.last_expected_cost_ratio().mean(), 1.05);
}

TEST(JobSimulation, OverlappingRecurrencesAllEnd) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  for (const std::string_view policy : optimize::policy_names()) {
    const SimulatedJob job = run(stage, policy, 5, 30, 4);
    const auto ends = std::ranges::count_if(
        job.tries, [](const SimulatedTry& attempt) { return records::reached(attempt.result.outcome); });
    EXPECT_EQ(ends, 30) << policy;
  }
}

TEST(JobSimulation, AMoveToOtherDevicesKeepsWhatIsKnownOfEpochs) {
  const Workload workload = small_workload();
  Workload elsewhere = workload;
  for (WorkloadArm& arm : elsewhere.arms) {
    for (records::LimitProfile& profile : arm.limits) {
      profile.epoch_time *= 0.5;
    }
  }
  const Stage here{workload, 0.5};
  const Stage there{elsewhere, 0.5};
  const std::array<Phase, 2> phases = {Phase{0, &here, {}}, Phase{40, &there, "other"}};
  for (const std::string_view policy : {"zeus", "lookahead"}) {
    const SimulatedJob job = simulate_job(phases, {.recurrences = 60}, named(policy), 2);
    double sum = 0.0;
    for (std::size_t recurrence = 40; recurrence < 60; ++recurrence) {
      sum += job.recurrences[recurrence].last_expected / job.recurrences[recurrence].optimum;
    }
    EXPECT_LT(sum / 20.0, 1.1) << policy << ": exploration must not start again";
  }
}

TEST(JobSimulation, ATargetOutOfReachIsOneClearError) {
  Workload workload = small_workload();
  for (WorkloadArm& arm : workload.arms) {
    arm.runs.assign(4, std::nullopt);
  }
  EXPECT_THROW(Stage(workload, 0.5), Error);
}

}  // namespace
}  // namespace zeus::simulate
