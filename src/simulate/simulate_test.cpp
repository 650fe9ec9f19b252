#include "optimize/batch_size/oracle_policy.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "simulate/cluster_generator.hpp"
#include "simulate/cluster_simulation.hpp"
#include "simulate/drift.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/published_jobs.hpp"
#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::simulate {
namespace {

// Epochs bend upward beyond batch size 64; small batches make slow epochs; 512 never reaches the target.
Workload small_workload() {
  Workload workload{
      .name = "small", .arms = {}, .max_epochs = 50, .default_batch_size = 128, .max_limit = 250_W, .max_power = 250_W};
  for (const int batch_size : {16, 32, 64, 128, 256, 512}) {
    const double epoch = 20.0 + 3000.0 / batch_size;
    const double epochs = 10.0 + batch_size / 12.0;
    WorkloadArm arm{.batch_size = batch_size,
                    .limits = {{100_W, Seconds{1.4 * epoch}, 95_W},
                               {175_W, Seconds{1.05 * epoch}, 160_W},
                               {250_W, Seconds{epoch}, 220_W}},
                    .runs = {}};
    for (const double noise : {0.95, 1.0, 1.0, 1.1}) {
      arm.runs.push_back(batch_size == 512 ? std::nullopt
                                           : std::optional{static_cast<int>(std::round(epochs * noise))});
    }
    workload.arms.push_back(arm);
  }
  return workload;
}

PolicyFactory named(std::string_view name) {
  return [name](const optimize::JobSpec& spec) { return optimize::make_policy(name, spec); };
}

SimulatedJob run(const Stage& stage, std::string_view policy, std::uint64_t seed, std::uint64_t recurrences = 40,
                 int in_flight = 1, std::size_t window = 0) {
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  return simulate_job(phases, {.window = window, .recurrences = recurrences, .in_flight = in_flight}, named(policy),
                      seed, true);
}

TEST(Stage, RunsCommonDrawsUnderEveryPolicy) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const auto nth_epochs = [&stage](std::string_view policy) {
    std::map<int, std::vector<int>> epochs;
    for (const SimulatedTry& attempt : run(stage, policy, 7).tries) {
      if (records::reached(attempt.result.outcome)) {
        epochs[static_cast<int>(attempt.result.arm)].push_back(attempt.result.epochs);
      }
    }
    return epochs;
  };
  const auto of_default = nth_epochs("default").at(3);
  const auto of_zeus = nth_epochs("zeus").at(3);
  EXPECT_TRUE(std::equal(of_zeus.begin(), of_zeus.end(), of_default.begin()));
}

TEST(Stage, AStoppedTryCostsTheEpochsItRan) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const Joules epoch = stage.cost().of_epoch(workload.arms[3].limits[2]);
  const TryResult result =
      stage.run({.batch_size = 128, .limit = 250_W, .max_epochs = 50, .budget = epoch * 3.5}, 1, 0);
  EXPECT_EQ(result.outcome, records::TryOutcome::stopped);
  EXPECT_EQ(result.epochs, 3);
  EXPECT_NEAR(result.cost / epoch, 3.0, 1e-12);
  const TryResult nothing =
      stage.run({.batch_size = 128, .limit = 250_W, .max_epochs = 50, .budget = epoch * 0.5}, 1, 1);
  EXPECT_EQ(nothing.epochs, 0);
  EXPECT_EQ(nothing.cost, 0_J);
}

TEST(Stage, ProfilingWhileRunningMakesTheFirstEpochAMeanOne) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  const TryResult plain = stage.run({.batch_size = 128, .limit = 175_W, .max_epochs = 50, .budget = {}}, 1, 0);
  const TryResult profiled = stage.run({.batch_size = 128, .limit = {}, .max_epochs = 50, .budget = {}}, 1, 0);
  const auto mean = optimize::mean_epoch(workload.arms[3].limits);
  EXPECT_NEAR((profiled.time - plain.time).value(), (mean.epoch_time - workload.arms[3].limits[1].epoch_time).value(),
              1e-9);
}

TEST(Stage, ProfilingBeforehandTakesFiveSecondsALimitOrItsShareOfAnEpoch) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  EXPECT_EQ(stage.profile({.batch_size = 16, .limits = {100_W, 250_W}}).time, 10_s);
  Workload fast = workload;
  fast.arms[0].limits[0].epoch_time = 6_s;
  EXPECT_EQ(Stage(fast, 0.5).profile({.batch_size = 16, .limits = {100_W}}).time, 2_s);
}

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

// A decision is a function of the events before it: folding the history anew at any point, as after a restart or with a
// dropped cache, decides the same.
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
        if (const auto* go = std::get_if<optimize::RunAction>(&action)) {
          return fmt::format("run {} {} {} {}", go->batch_size, go->limit.value_or(Watts{}).value(), go->max_epochs,
                             go->budget.value_or(Joules{}).value());
        }
        const auto* profile = std::get_if<optimize::ProfileAction>(&action);
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

// A simulation is one thread's; any number of them may share a stage, and meet the same runs as alone.
TEST(JobSimulation, ThreadsThatShareAStageDecideAsOneDoes) {
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

// Policy zeus draws from the prior times what it saw: a belief far firmer than two costs decides, one far looser does
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

TEST(JobSimulation, ZeusBelievesItsPriorsBeforeTheFirstRun) {
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

TEST(Drift, ARandomOneMovesTheBestByTwoOctaves) {
  const Workload workload = small_workload();
  const optimize::EnergyTimeCost cost{0.5, workload.max_power};
  const auto drift = random_drift(workload, 0.5, 20, 4);
  ASSERT_TRUE(drift);
  const Workload after = drifted(workload, *drift);
  const double before_size = workload.arms[optimum(workload, cost).arm].batch_size;
  const double after_size = after.arms[optimum(after, cost).arm].batch_size;
  EXPECT_GE(std::fabs(std::log2(after_size / before_size)), 2.0);
}

TEST(Drift, RefusesWhatIsNone) {
  for (const char* text : {"x", "at=", "at=-1", "tilt=nan", "curve=1e99", "at=3;tilt=1"}) {
    EXPECT_THROW(parse_drift(text, small_workload(), 0.5, 1), Error) << text;
  }
}

TEST(Cluster, GeneratesExactlyTheJobsAskedForInOrder) {
  ClusterGenerator generator{parse_cluster_plan("jobs=5000,max=400,seed=3"), {100_s, 1000_s}};
  std::size_t jobs = 0;
  while (const auto group = generator.next()) {
    jobs += group->jobs.size();
    EXPECT_TRUE(std::ranges::is_sorted(group->jobs, {}, &trace::ClusterJob::start));
    EXPECT_LE(group->jobs.size(), 400U);
  }
  EXPECT_EQ(jobs, 5000U);
}

TEST(Cluster, RefusesAPlanThatCannotBe) {
  for (const char* text : {"jobs", "jobs=0", "jobs=nan", "jobs=1e99", "power=1", "min=9,max=3", "days=-1", "x=1"}) {
    EXPECT_THROW(parse_cluster_plan(text), Error) << text;
  }
}

TEST(Cluster, OverlappingJobsAreDecidedWithWhatHadEnded) {
  const Workload workload = small_workload();
  const Stage stage{workload, 0.5};
  std::vector<trace::ClusterJob> jobs;
  for (int job = 0; job < 60; ++job) {
    jobs.push_back({.start = Seconds{100.0 * job}, .end = Seconds{100.0 * job + 250.0}, .runtime_ratio = 1.0});
  }
  ClusterTotal total;
  simulate_group(stage, jobs, 2.0, named("lookahead"), 1, total);
  EXPECT_EQ(total.jobs, 60U);
  EXPECT_GE(total.tries, 60U);
  EXPECT_LT(total.energy, total.default_energy);
  EXPECT_EQ(total.given_up, 0U);
}

TEST(Cluster, RawGroupsAreMatchedByRunTime) {
  std::vector<trace::ClusterGroup> groups;
  for (const double time : {10.0, 11.0, 1000.0, 1100.0, 12.0}) {
    groups.push_back({.name = "g", .dataset = {}, .jobs = {{0_s, Seconds{time}, 1.0}}});
  }
  const std::array<Seconds, 2> typical = {5000_s, 30_s};
  EXPECT_EQ(assign_workloads(groups, typical), (std::vector<std::size_t>{1, 1, 0, 0, 1}));
  EXPECT_NEAR(groups[0].jobs[0].runtime_ratio, 10.0 / 11.0, 1e-12);
}

// The published traces are not part of the project; where they lie beside the checkout, the replay is held to them.
class PublishedTraces : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path{ZEUS_SHARED_FOLDER} / "traces";
    const auto read = [&folder](const char* name) {
      std::ifstream file{folder / name, std::ios::binary};
      return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    const std::string train = read("summary_train.csv");
    if (train.empty()) {
      GTEST_SKIP() << "published traces are not beside the checkout";
    }
    train_ = trace::parse_train_trace("summary_train.csv", train);
    power_ = trace::parse_power_trace("summary_power_v100.csv", read("summary_power_v100.csv"));
  }

  trace::TrainTrace train_;
  trace::PowerTrace power_;
};

TEST_F(PublishedTraces, PolicyZeusReplaysThePublishedFigures) {
  struct Figure {
    int batch_size;
    Watts limit;
    double energy;
    double time;
    double regret;
  };
  constexpr std::array<Figure, 6> figures = {{{48, 150_W, 0.618, 0.772, 8.95},
                                              {12, 200_W, 0.816, 1.016, 1.68},
                                              {64, 175_W, 0.791, 1.084, 1.69},
                                              {360, 175_W, 0.808, 1.077, 4.57},
                                              {128, 100_W, 0.254, 0.557, 9.76},
                                              {16384, 175_W, 0.345, 0.362, 15.4}}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Workload workload = select_published(train_, power_, published_jobs()[i]);
    const Stage stage{workload, 0.5};
    const Configuration& best = stage.optimum();
    EXPECT_EQ(workload.arms[best.arm].batch_size, figures[i].batch_size);
    EXPECT_EQ(workload.arms[best.arm].limits[best.limit].limit, figures[i].limit);
    const std::uint64_t recurrences = 2 * workload.arms.size() * workload.limits().size();
    JobSummary summary{stage, recurrences};
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      summary.add(run(stage, "zeus", seed, recurrences));
    }
    EXPECT_NEAR(summary.last_energy_ratio().mean(), figures[i].energy, 0.02) << workload.name;
    EXPECT_NEAR(summary.last_time_ratio().mean(), figures[i].time, 0.02) << workload.name;
    EXPECT_NEAR(summary.regret().mean(), figures[i].regret, 0.1 * figures[i].regret) << workload.name;
  }
}

TEST_F(PublishedTraces, LookaheadWastesLessThanHalfOfZeus) {
  double ratio = 0.0;
  for (const JobSelection& job : published_jobs()) {
    const Workload workload = select_published(train_, power_, job);
    const Stage stage{workload, 0.5};
    const std::uint64_t recurrences = 2 * workload.arms.size() * workload.limits().size();
    JobSummary zeus{stage, recurrences};
    JobSummary lookahead{stage, recurrences};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      zeus.add(run(stage, "zeus", seed, recurrences));
      lookahead.add(run(stage, "lookahead", seed, recurrences));
    }
    ratio += lookahead.expected_regret().mean() / zeus.expected_regret().mean() / 6.0;
  }
  EXPECT_LT(ratio, 0.5);
}

}  // namespace
}  // namespace zeus::simulate
