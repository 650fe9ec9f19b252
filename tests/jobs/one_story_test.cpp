// One story: random scripts of trainings, each played through the simulator's closed form and through the driver of
// `zeus run` and the demo, with a training that follows the script on a virtual clock and a store in memory. Both must
// have the same tries, seeds, limits, stops, outcomes and charges; and a session would have stopped each try at the
// same point.

#include "base/random.hpp"
#include "jobs/driver.hpp"
#include "jobs/job.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/cost/selector.hpp"
#include "simulate/job_simulation.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/population.hpp"
#include "train/stopping.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace zeus::jobs {
namespace {

using simulate::Mishap;
using simulate::Stage;
using simulate::Workload;

constexpr double target = 0.9;

struct Script {
  Workload workload;
  double eta = 0.5;
  std::string_view policy;
  simulate::SimulationOptions options;
  std::uint64_t seed = 0;
  bool sets_limits = true;
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : draws_{seed}, seed_{seed} {}

  Script write() {
    Script script{.workload = {.name = "script", .arms = {}, .max_limit = 250_W, .max_power = 250_W},
                  .policy = one_in(2) ? "zeus" : "lookahead",
                  .seed = seed_};
    script.eta = one_in(5) ? 0.0 : uniform(0.1, 1.0);
    script.sets_limits = !one_in(8);
    script.options = {.beta = one_in(3) ? 1e6 : uniform(1.1, 3.0),
                      .window = one_in(3) ? 3 + below(4) : 0,
                      .recurrences = 8,
                      .live = true};
    // Budgets so tight that the cost of measuring decides.
    tight_ = one_in(5);
    script.workload.max_epochs = static_cast<int>(tight_ ? 1 + below(3) : 3 + below(25));
    if (tight_) {
      script.options.beta = uniform(1.02, 1.3);
    }
    const std::size_t limits = script.sets_limits ? 2 + below(3) : 1;
    const std::size_t arms = 2 + below(4);
    for (std::size_t arm = 0; arm < arms; ++arm) {
      script.workload.arms.push_back(write_arm(16 << arm, limits, script.workload.max_epochs));
    }
    make_usual(script.workload.arms[below(arms)], script.workload);
    // The cost of an epoch cannot be predicted if limits are not the requested ones: no budget then; unit tests cover
    // it.
    limits_fail_ = script.options.beta > 1e3 && script.sets_limits;
    const bool out_of_reach = one_in(12);
    const bool default_misses = one_in(12);
    for (simulate::WorkloadArm& arm : script.workload.arms) {
      const bool is_default = arm.batch_size == script.workload.default_batch_size;
      add_mishaps(arm, out_of_reach || (default_misses && is_default));
    }
    return script;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return draws_.below(bound); }
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  double uniform(double low, double high) {
    const double part = draws_.uniform();
    return low + part * (high - low);
  }

  simulate::WorkloadArm write_arm(int batch_size, std::size_t limits, int max_epochs) {
    simulate::WorkloadArm arm{.batch_size = batch_size, .limits = {}, .runs = {}};
    const double epoch = tight_ ? uniform(5.0, 15.0) : one_in(2) ? uniform(0.5, 8.0) : uniform(20.0, 4000.0);
    for (std::size_t limit = 0; limit < limits; ++limit) {
      const double share = limits == 1 ? 1.0 : static_cast<double>(limit) / static_cast<double>(limits - 1);
      const double slow = uniform(1.0, 1.3);
      arm.limits.push_back({.limit = Watts{100.0 + 150.0 * share},
                            .epoch_time = Seconds{epoch * (1.0 + (1.0 - share) * slow)},
                            .average_power = Watts{80.0 + 140.0 * share}});
    }
    const bool hopeless = one_in(5);
    for (std::size_t run = 2 + below(4); run > 0; --run) {
      const auto needed = static_cast<int>(1 + below(static_cast<std::uint64_t>(max_epochs) + 4));
      arm.runs.push_back(hopeless || one_in(8) ? std::nullopt : std::optional{needed});
    }
    return arm;
  }

  // A default always reaches the target, except for mishaps.
  void make_usual(simulate::WorkloadArm& arm, Workload& workload) {
    workload.default_batch_size = arm.batch_size;
    for (std::optional<int>& run : arm.runs) {
      run = static_cast<int>(1 + below(static_cast<std::uint64_t>(workload.max_epochs)));
    }
  }

  void add_mishaps(simulate::WorkloadArm& arm, bool misses) {
    const std::uint64_t seldom = one_in(3) ? 3 : 12;
    for (std::size_t run = 0; run < arm.runs.size(); ++run) {
      Mishap mishap{.misses = misses};
      if (one_in(seldom)) {
        mishap.crashes_after = static_cast<int>(below(4));
      }
      if (limits_fail_ && one_in(seldom)) {
        (one_in(2) ? mishap.left_alone : mishap.not_measured) = true;
      }
      arm.mishaps.push_back(mishap);
    }
  }

  Random draws_;
  std::uint64_t seed_;
  bool limits_fail_ = false;
  bool tight_ = false;
};

// A training that follows the script, at its speed and power under each limit.
class ScriptedTry final : public Try {
 public:
  ScriptedTry(const Script& script, const Stage& stage, VirtualClock& clock)
      : script_{script},
        stage_{stage},
        clock_{clock},
        noise_{script.seed ^ 1},
        tried_(script.workload.arms.size(), 0) {}

  void start(int batch_size, std::uint64_t seed) override {
    arm_ = script_.workload.arm_of(batch_size);
    draw_ = stage_.draw(arm_, script_.seed, tried_[arm_]);
    started_ = clock_.now();
    seed_ = seed;
    energy_ = {};
    epochs_ = 0;
    limit_.reset();
    wanted_.clear();
    measured_.clear();
    left_alone_ = draw_.mishap.left_alone ? "somebody else holds them" : "";
    exit_code_.reset();
  }
  void hold(Watts limit) override {
    if (!draw_.mishap.left_alone && !draw_.mishap.not_measured) {
      limit_ = limit;
    }
  }
  void leave() override { limit_.reset(); }
  void measure(const std::vector<Watts>& limits, const Known& /*known*/) override {
    measured_.clear();
    if (!draw_.mishap.left_alone && !draw_.mishap.not_measured) {
      wanted_ = limits;
    }
  }

  std::vector<Event> go_on() override {
    if (exit_code_) {
      return {};
    }
    if (!wanted_.empty() && beforehand) {
      simulate::ProfilingResult result = stage_.profile({.batch_size = batch_size(), .limits = wanted_});
      take(result.time, result.energy);
      keep_best_of(std::move(result.limits));
      return {};
    }
    if (draw_.mishap.crashes_after == epochs_) {
      exit_code_ = 1;
      return {};
    }
    if (!wanted_.empty()) {
      const records::LimitProfile first = optimize::mean_epoch(limits());
      take(first.epoch_time, first.average_power * first.epoch_time);
      keep_best_of(limits());
    } else {
      const records::LimitProfile& epoch = limits()[script_.workload.limit_of(arm_, in_force())];
      take(epoch.epoch_time, epoch.average_power * epoch.epoch_time);
    }
    ++epochs_;
    return {MetricSeen{.value = metric()}, EpochOver{.epochs = epochs_}};
  }
  void stop() override { exit_code_ = 143; }

  State state() override {
    return {.epochs = epochs_,
            .metric = {},
            .exit_code = exit_code_,
            .measuring = !wanted_.empty(),
            .disturbed = !wanted_.empty(),
            .left_alone = left_alone_,
            .limit = limit_};
  }
  std::vector<records::LimitProfile> measured() override { return measured_; }
  Taken taken_so_far() override {
    return {.gpus = {{.gpu = "GPU-0", .energy = {.value = energy_, .uncertainty = {}, .systematic = {}}}},
            .time = clock_.now() - started_,
            .unknown = {}};
  }
  Taken close() override { return taken_so_far(); }

  // Of the last started training.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] Watts in_force() const { return limit_.value_or(limits().back().limit); }
  void count_try() { ++tried_[arm_]; }

  bool beforehand = false;  // measured in slices; otherwise over an epoch

 private:
  [[nodiscard]] const std::vector<records::LimitProfile>& limits() const { return script_.workload.arms[arm_].limits; }
  [[nodiscard]] int batch_size() const { return script_.workload.arms[arm_].batch_size; }
  void take(Seconds time, Joules energy) {
    clock_.sleep_until(clock_.now() + time);
    energy_ += energy;
  }
  void keep_best_of(std::vector<records::LimitProfile> limits) {
    limit_ = limits[optimize::cheapest_limit(stage_.cost(), limits)].limit;
    measured_ = std::move(limits);
    wanted_.clear();
  }
  double metric() {
    if (draw_.needed && epochs_ >= *draw_.needed) {
      return target + 0.01;
    }
    constexpr std::array<double, 4> never = {0.1, target - 1e-9, std::numeric_limits<double>::quiet_NaN(),
                                             std::numeric_limits<double>::infinity()};
    return never[noise_.below(never.size())];
  }

  const Script& script_;
  const Stage& stage_;
  VirtualClock& clock_;
  Random noise_;
  std::vector<std::uint64_t> tried_;
  std::size_t arm_ = 0;
  Stage::Draw draw_;
  Instant started_;
  std::uint64_t seed_ = 0;
  Joules energy_;
  int epochs_ = 0;
  std::optional<Watts> limit_;
  std::vector<Watts> wanted_;
  std::vector<records::LimitProfile> measured_;
  std::string left_alone_;
  std::optional<int> exit_code_;
};

// A try, from either side.
struct Told {
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  Watts limit;
  records::TryOutcome outcome = records::TryOutcome::lost;
  int epochs = 0;
  Joules energy;
  Seconds time;
};

std::string to_text(const Told& told) {
  constexpr std::array<const char*, 4> outcomes = {"reached", "stopped", "exhausted", "lost"};
  return fmt::format("recurrence {}: batch size {} under {} W {} after {} epochs: {:.6g} J in {:.6g} s",
                     told.recurrence, told.batch_size, told.limit.value(),
                     outcomes.at(static_cast<std::size_t>(told.outcome)), told.epochs, told.energy.value(),
                     told.time.value());
}

struct Story {
  std::vector<Told> tries;
  std::vector<Joules> costs;  // of recurrences
  int out_of_reach = 0;       // recurrences given up before any had reached the target
};

Story simulated(const Script& script, const Stage& stage) {
  const std::array<simulate::Phase, 1> phases = {simulate::Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const auto policy = [&](const optimize::JobSpec& spec) { return optimize::make_policy(script.policy, spec); };
  const simulate::SimulatedJob job = simulate_job(phases, script.options, policy, script.seed);
  Story story;
  for (const auto& [recurrence, result] : job.tries) {
    const simulate::WorkloadArm& arm = script.workload.arms[result.arm];
    story.tries.push_back({.recurrence = recurrence,
                           .batch_size = arm.batch_size,
                           .limit = arm.limits[result.limit].limit,
                           .outcome = result.outcome,
                           .epochs = result.epochs,
                           .energy = result.energy,
                           .time = result.time});
  }
  for (const simulate::SimulatedRecurrence& one : job.recurrences) {
    story.costs.push_back(one.cost);
  }
  return story;
}

records::JobDefinition definition_of(const Script& script, const Stage& stage) {
  const optimize::JobSpec spec = job_spec(stage, script.options, script.seed);
  return {.batch_sizes = spec.batch_sizes,
          .default_batch_size = spec.default_batch_size,
          .target = records::JobTarget{.metric = target},
          .max_epochs = spec.max_epochs,
          .eta = spec.eta,
          .beta = spec.beta,
          .window = spec.window,
          .policy = std::string{script.policy},
          .seed = spec.seed,
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 1, .max_power = spec.max_power, .power_limits = spec.power_limits}};
}

// A session with the same bounds would have stopped this try at the same point. It does not judge before the first
// epoch, and crashes are up to the program.
void judge_by_session(const TryJudged& over, const Stage& stage, Watts limit) {
  const records::TryPlan& plan = over.step.event.plan;
  const records::TryProgress& whole = over.result.progress;
  if (whole.epochs == 0 || over.result.outcome == records::TryOutcome::lost || over.result.exit_code) {
    return;
  }
  TrainingOptions options;
  options.stopping.target = TrainingTarget{.metric = target};
  options.stopping.max_epochs = static_cast<std::uint64_t>(plan.max_epochs);
  options.stopping.cost_limit = plan.budget;
  const std::size_t arm = stage.workload().arm_of(plan.batch_size);
  const Joules epoch = stage.cost().of_epoch(stage.limits(arm)[stage.workload().limit_of(arm, limit)]);
  const Joules cost = stage.cost().of(*over.energy, whole.time);
  const bool reached = over.result.outcome == records::TryOutcome::reached;
  for (int epochs = 1; epochs <= whole.epochs; ++epochs) {
    const bool last = epochs == whole.epochs;
    const std::optional<StopReason> reason =
        train::stop_reason_of(options, {.epochs = static_cast<std::uint64_t>(epochs),
                                        .metric = last && reached ? target : 0.1,
                                        .cost = cost - epoch * static_cast<double>(whole.epochs - epochs),
                                        .next_cost = epoch});
    const StopReason end = reached                           ? StopReason::target_reached
                           : whole.epochs == plan.max_epochs ? StopReason::epochs_used_up
                                                             : StopReason::too_expensive;
    EXPECT_EQ(reason, last ? std::optional{end} : std::nullopt)
        << "try " << over.step.event.try_number << " after " << epochs << " of " << whole.epochs << " epochs";
  }
}

Story driven(const Script& script, const Stage& stage) {
  const records::JobDefinition definition = definition_of(script, stage);
  test::MemoryStore store;
  VirtualClock clock{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  const Site site = this_site(clock, FileTree{});
  Job job = Job::open(store, site, "job", definition);
  ScriptedTry training{script, stage, clock};
  Story story;
  for (std::uint64_t number = 0; number < script.options.recurrences; ++number) {
    const auto hear = [&](const DriverEvent& event) {
      if (std::holds_alternative<records::ProfileAsked>(event) || std::holds_alternative<records::TryStarted>(event)) {
        training.beforehand = std::holds_alternative<records::ProfileAsked>(event);
      } else if (const auto* over = std::get_if<TryJudged>(&event)) {
        EXPECT_EQ(training.seed(), definition.seed + 1 + over->step.event.try_number);
        EXPECT_EQ(over->step.event.try_number, story.tries.size());
        story.tries.push_back({.recurrence = number,
                               .batch_size = over->step.event.plan.batch_size,
                               .limit = training.in_force(),
                               .outcome = over->result.outcome,
                               .epochs = over->result.progress.epochs,
                               .energy = *over->energy,
                               .time = over->result.progress.time});
        training.count_try();
        judge_by_session(*over, stage, training.in_force());
      }
    };
    Driver driver{std::make_unique<KeptRecurrence>(job, job.begin(definition.device)),
                  definition.device,
                  training,
                  {.sets_limits = script.sets_limits, .stops_at_target = true, .foresees_epochs = true},
                  clock,
                  hear,
                  [](const Error&) { throw; }};
    const bool missed = driver.run() == DriverEnd::missed;
    const bool ever = std::ranges::count(story.tries, records::TryOutcome::reached, &Told::outcome) > 0;
    story.out_of_reach += missed && !ever ? 1 : 0;
  }
  for (const records::RecurrenceView& one : job.view().recurrences) {
    story.costs.push_back(one.cost.value());
  }
  return story;
}

// A try of no epoch ran under no limit.
bool same(const Told& a, const Told& b) {
  const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y)); };
  return a.recurrence == b.recurrence && a.batch_size == b.batch_size && (a.limit == b.limit || a.epochs == 0) &&
         a.outcome == b.outcome && a.epochs == b.epochs && close(a.energy.value(), b.energy.value()) &&
         close(a.time.value(), b.time.value());
}

Story tell(std::uint64_t seed) {
  const Script script = Writer{seed}.write();
  SCOPED_TRACE(fmt::format("script {}: {}, eta {}, beta {}, window {}", seed, script.policy, script.eta,
                           script.options.beta, script.options.window));
  const Stage stage{script.workload, script.eta};
  const Story of_simulator = simulated(script, stage);
  Story of_driver = driven(script, stage);
  EXPECT_EQ(of_simulator.tries.size(), of_driver.tries.size());
  for (std::size_t i = 0; i < std::min(of_simulator.tries.size(), of_driver.tries.size()); ++i) {
    if (!same(of_simulator.tries[i], of_driver.tries[i])) {
      ADD_FAILURE() << "try " << i << "\n  simulated: " << to_text(of_simulator.tries[i])
                    << "\n  driven:    " << to_text(of_driver.tries[i]);
      return of_driver;
    }
  }
  EXPECT_EQ(of_simulator.costs.size(), of_driver.costs.size());
  for (std::size_t i = 0; i < std::min(of_simulator.costs.size(), of_driver.costs.size()); ++i) {
    EXPECT_NEAR(of_simulator.costs[i].value(), of_driver.costs[i].value(), 1e-9 * of_simulator.costs[i].value() + 1e-9)
        << "charged to recurrence " << i;
  }
  return of_driver;
}

TEST(OneStory, IsTheSameInTheSimulatorAndInTheDriver) {
  constexpr int scripts = test::drawn(1000);
  int out_of_reach = 0;
  for (std::uint64_t seed = 1; seed <= scripts; ++seed) {
    out_of_reach += tell(seed).out_of_reach;
  }
  EXPECT_GT(out_of_reach, scripts / 10);
}

}  // namespace
}  // namespace zeus::jobs
