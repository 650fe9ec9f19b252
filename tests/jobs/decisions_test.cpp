// The live loop decides what the simulator decides, try by try, from a history in a store, even if its caches vanish
// and its processes change at random moments.

#include "base/random.hpp"
#include "jobs/job.hpp"
#include "jobs/job_state.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/model_workload.hpp"
#include "store/open_store.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

namespace zeus::jobs {
namespace {

using simulate::Phase;
using simulate::SimulatedJob;
using simulate::Stage;

records::JobDevice device_of(const std::string& model, const optimize::JobSpec& spec, Watts max_power) {
  return {.model = model, .gpus = 1, .max_power = max_power, .power_limits = spec.power_limits};
}

records::JobDefinition definition_of(const optimize::JobSpec& spec, std::string_view policy) {
  return {.batch_sizes = spec.batch_sizes,
          .default_batch_size = spec.default_batch_size,
          .target = {},
          .max_epochs = spec.max_epochs,
          .eta = spec.eta,
          .beta = spec.beta,
          .window = spec.window,
          .policy = std::string{policy},
          .seed = spec.seed,
          .max_slowdown = {},
          .device = device_of("first", spec, spec.max_power)};
}

std::vector<records::GpuEnergy> measured(Joules energy) {
  return {{.gpu = "GPU-0", .energy = {.value = energy, .uncertainty = {}, .systematic = {}}}};
}

// Replays a simulated history with live processes, and compares every decision with it.
class Replay {
 public:
  Replay(const std::filesystem::path& file, const optimize::JobSpec& spec, std::string_view policy, std::uint64_t chaos)
      : file_{file.string()},
        spec_{spec},
        definition_{definition_of(spec, policy)},
        device_{definition_.device},
        chaos_{chaos} {}

  void go_through(const SimulatedJob& simulated) {
    for (const records::JobEvent& event : simulated.events) {
      disturb();
      std::visit([this](const auto& one) { step(one); }, event);
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }

  [[nodiscard]] int processes() const { return processes_; }

 private:
  // One process: its own connection, its own memory.
  struct Process {
    std::unique_ptr<store::JobStore> store;
    Job job;
    Recurrence recurrence;
  };

  void disturb() {
    if (chaos_.bits() % 7 == 0) {
      store::open_store(file_, store::Access::create, clock_)->drop_snapshots();
    }
  }

  Recurrence& of(std::uint64_t recurrence) {
    const auto known = running_.find(recurrence);
    if (known != running_.end()) {
      return known->second->recurrence;
    }
    ++processes_;
    auto store = store::open_store(file_, store::Access::create, clock_);
    Job job = Job::open(*store, site_, "job", definition_);
    Recurrence begun = job.begin(device_);
    EXPECT_EQ(begun.number(), recurrence);
    auto process = std::make_unique<Process>(Process{std::move(store), std::move(job), std::move(begun)});
    return running_.emplace(recurrence, std::move(process)).first->second->recurrence;
  }

  void step(const records::TrySubmitted& event) {
    const Step next = of(event.recurrence).next();
    ASSERT_TRUE(std::holds_alternative<records::TryStarted>(next)) << "try " << event.try_number;
    const auto& run = std::get<records::TryStarted>(next);
    EXPECT_EQ(run.event.try_number, event.try_number);
    ASSERT_EQ(run.event.plan.batch_size, event.plan.batch_size) << "try " << event.try_number;
    EXPECT_EQ(run.event.plan.purpose, event.plan.purpose);
    EXPECT_FALSE(run.why.empty());
  }
  // The simulator's epochs all cost exactly what was measured for their limit.
  void step(const records::EpochSeen& /*event*/) { FAIL() << "a simulated epoch contained new information"; }
  void step(const records::StartSeen& /*event*/) { FAIL() << "a simulated training has no start"; }
  void step(const records::LimitsProfiled& event) {
    const bool beforehand = event.time > Seconds{};
    if (beforehand) {
      const Step next = of(event.recurrence).next();
      ASSERT_TRUE(std::holds_alternative<records::ProfileAsked>(next)) << "recurrence " << event.recurrence;
      EXPECT_EQ(std::get<records::ProfileAsked>(next).batch_size, event.batch_size);
      for (const records::LimitProfile& limit : event.limits) {
        EXPECT_EQ(std::ranges::count(std::get<records::ProfileAsked>(next).limits, limit.limit), 1);
      }
    }
    of(event.recurrence)
        .profiled({.batch_size = event.batch_size,
                   .limits = event.limits,
                   .charged = beforehand ? measured(event.energy) : std::vector<records::GpuEnergy>{},
                   .time = event.time});
  }
  void step(const records::TryEnded& event) {
    of(event.recurrence)
        .finished({.outcome = event.outcome,
                   .progress = {.epochs = event.epochs, .gpus = measured(event.energy), .time = event.time},
                   .exit_code = 0});
    if (reached(event.outcome)) {
      EXPECT_TRUE(of(event.recurrence).over());
      running_.erase(event.recurrence);
    }
  }
  void step(const records::RecurrenceAbandoned&) { FAIL() << "the simulator gives nothing up"; }
  void step(const records::DeviceChanged& event) { device_ = device_of(event.model, spec_, event.max_power); }

  std::string file_;
  optimize::JobSpec spec_;
  records::JobDefinition definition_;
  records::JobDevice device_;
  Random chaos_;
  SystemClock clock_;
  Site site_ = this_site(clock_, FileTree{});
  std::map<std::uint64_t, std::unique_ptr<Process>> running_;
  int processes_ = 0;
};

const physics::GpuModel& v100() {
  return physics::preset("V100");
}

simulate::PolicyFactory named(std::string_view name) {
  return [name](const optimize::JobSpec& spec) { return optimize::make_policy(name, spec); };
}

struct Case {
  std::string workload;
  std::string_view policy;
  int in_flight = 1;
  std::size_t window = 0;
};

void hold_live_to_simulated(const Case& one) {
  SCOPED_TRACE(fmt::format("{}, {}, {} in flight, window {}", one.workload, one.policy, one.in_flight, one.window));
  const test::TemporaryFolder folder;
  const simulate::Workload workload = simulate::model_workload(physics::workload(one.workload), v100());
  const Stage stage{workload, 0.5};
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const simulate::SimulationOptions options{.window = one.window, .recurrences = 40, .in_flight = one.in_flight};
  constexpr std::uint64_t seed = 3;
  const SimulatedJob simulated = simulate_job(phases, options, named(one.policy), seed, true);
  Replay replay{folder.path() / "jobs.sqlite", job_spec(stage, options, seed), one.policy, seed};
  replay.go_through(simulated);
  EXPECT_EQ(replay.processes(), 40);
}

TEST(Decisions, AreTheSimulatorsTryForTryUnderEveryPolicy) {
  for (const std::string_view policy : optimize::policy_names()) {
    hold_live_to_simulated({.workload = "cifar100", .policy = policy});
  }
}

TEST(Decisions, AreTheSimulatorsForEveryBuiltInWorkload) {
  for (const physics::Workload& workload : physics::workloads()) {
    hold_live_to_simulated({.workload = std::string{workload.name()}, .policy = optimize::best_policy});
  }
}

TEST(Decisions, AreTheSimulatorsWhenRecurrencesOverlapAndOldRunsAreForgotten) {
  for (const std::string_view policy : {std::string_view{"zeus"}, optimize::best_policy}) {
    hold_live_to_simulated({.workload = "cifar100", .policy = policy, .in_flight = 4});
    hold_live_to_simulated({.workload = "cifar100", .policy = policy, .window = 5});
  }
}

TEST(Decisions, AreTheSimulatorsWhenTheJobMovesToAnotherGpu) {
  const simulate::Workload here = simulate::model_workload(physics::workload("cifar100"), v100());
  simulate::Workload there = here;
  for (simulate::WorkloadArm& arm : there.arms) {
    for (records::LimitProfile& limit : arm.limits) {
      limit.epoch_time *= 0.5;
      limit.average_power *= 1.1;
    }
  }
  const Stage first{here, 0.5};
  const Stage second{there, 0.5};
  const std::array<Phase, 2> phases = {Phase{0, &first, {}}, Phase{20, &second, "second"}};
  const simulate::SimulationOptions options{.recurrences = 40};
  for (const std::string_view policy : {std::string_view{"zeus"}, optimize::best_policy}) {
    const test::TemporaryFolder folder;
    const SimulatedJob simulated = simulate_job(phases, options, named(policy), 5, true);
    Replay replay{folder.path() / "jobs.sqlite", job_spec(first, options, 5), policy, 5};
    replay.go_through(simulated);
  }
}

// A state saved and restored at any point continues like the original.
TEST(Decisions, FollowFromASavedStateAsFromTheHistory) {
  const simulate::Workload workload = simulate::model_workload(physics::workload("cifar100"), v100());
  const Stage stage{workload, 0.5};
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  for (const std::string_view policy : optimize::policy_names()) {
    for (const std::size_t window : {std::size_t{0}, std::size_t{4}}) {
      const simulate::SimulationOptions options{.window = window, .recurrences = 60, .in_flight = 2};
      const SimulatedJob simulated = simulate_job(phases, options, named(policy), 9, true);
      const optimize::JobSpec spec = job_spec(stage, options, 9);
      optimize::RecurringJob whole{spec, optimize::make_policy(policy, spec)};
      auto restored = std::make_unique<optimize::RecurringJob>(spec, optimize::make_policy(policy, spec));
      Random chaos{window + 1};
      for (const records::JobEvent& event : simulated.events) {
        whole.apply(event);
        restored->apply(event);
        if (chaos.bits() % 3 == 0) {
          StateWriter writer;
          restored->save(writer);
          const std::string text = writer.take();
          restored = std::make_unique<optimize::RecurringJob>(spec, optimize::make_policy(policy, spec));
          StateReader reader{text};
          restored->restore(reader);
          EXPECT_TRUE(reader.done());
        }
        StateWriter of_whole;
        StateWriter of_restored;
        whole.save(of_whole);
        restored->save(of_restored);
        ASSERT_EQ(of_whole.take(), of_restored.take()) << policy;
      }
    }
  }
}

}  // namespace
}  // namespace zeus::jobs
