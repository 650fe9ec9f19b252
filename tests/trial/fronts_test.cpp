// Every front meets every situation in the same way: it records the same device, measures and keeps the same limits,
// charges what the training really took, and leaves the same entries.
#include "tests/trial/fronts.hpp"

#include "base/log.hpp"
#include "demo/heavy_work.hpp"
#include "store/open_store.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::test {
namespace {

using namespace literals;

constexpr Watts highest{250};  // of all GPUs here, and found

std::string watts(Watts limit) {
  return fmt::format("{:g}", limit.value());
}

struct Told {
  std::vector<std::string> story;             // what happened, in words without figures
  int progress = 0;                           // entries of it
  std::vector<TrueCost> charged;              // by tries
  std::vector<TrueCost> trained;              // what that really was, by trainings
  std::vector<records::LimitProfile> limits;  // that were measured
};

void tell(Told& /*told*/, const auto& /*other*/) {
}

void tell(Told& told, const records::RecurrenceBegun& begun) {
  std::vector<std::string> limits;
  for (const Watts limit : begun.device.power_limits) {
    limits.push_back(watts(limit));
  }
  told.story.push_back(fmt::format("{} GPU: {} W", begun.device.gpus, fmt::join(limits, ", ")));
}

void tell(Told& told, const records::TryStarted& started) {
  const records::TryPlan& plan = started.event.plan;
  told.story.push_back(
      fmt::format("try {}{}", plan.batch_size, plan.limit ? fmt::format(" under {} W", watts(*plan.limit)) : ""));
}

void tell(Told& told, const records::ProfileTaken& profile) {
  std::vector<std::string> limits;
  for (const records::LimitProfile& one : profile.measured.limits) {
    limits.push_back(watts(one.limit));
    told.limits.push_back(one);
  }
  told.story.push_back(fmt::format("measured {} W", fmt::join(limits, ", ")));
}

void tell(Told& told, const records::TryFinished& finished) {
  const records::TryResult& result = finished.result;
  told.story.push_back(fmt::format("{} after {} epochs{}{}", to_string(result.outcome), result.progress.epochs,
                                   result.limit ? fmt::format(" under {} W", watts(*result.limit)) : "",
                                   result.left_out ? ", left out: " + *result.left_out : ""));
  told.charged.push_back({.energy = finished.energy, .time = result.progress.time});
}

void tell(Told& told, const records::EpochsRun& /*epochs*/) {
  ++told.progress;
}

void tell(Told& told, const records::RecurrenceGivenUp& given_up) {
  told.story.push_back("given up: " + given_up.reason);
}

// The energies of a try are not told where one is unknown.
bool has_energy(const Told& told) {
  return std::ranges::none_of(told.story, [](const std::string& line) {
    return line.find("energy is unknown") != std::string::npos || line.find("suspended") != std::string::npos;
  });
}

// What an epoch of steps alone takes under a limit that holds from its beginning on.
TrueCost true_epoch(Situation situation, Watts limit) {
  VirtualMachine machine{situation.gpus};
  if (situation.before) {
    situation.before(machine, situation, situation.nights);
  }
  for (std::size_t gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    machine.gpu(gpu).set_faults({});
    (void)machine.gpu(gpu).set_power_limit(limit).or_throw("the limit");
    machine.gpu(gpu).set_load(physics::Load::constant(situation.demand));
  }
  machine.pass(2_s);
  const Work& work = situation.works.back();
  const Seconds time = work.step * static_cast<double>(work.steps) / machine.gpu().operating_point().speed;
  const Joules before = machine.true_energy();
  machine.pass(time);
  return {.energy = machine.true_energy() - before, .time = time};
}

// The last night of a situation.
Told told_by(const Front& front, Situation situation) {
  const TemporaryFolder folder;
  VirtualMachine machine{situation.gpus};
  const std::filesystem::path file = folder.path() / "jobs.sqlite";
  Told told;
  std::size_t read = 0;
  for (int night = 1; night <= situation.nights; ++night) {
    if (situation.before) {
      situation.before(machine, situation, night);
    }
    machine.begin_process();
    Stage stage{.machine = machine, .situation = situation, .store = file, .night = night};
    front.recur(stage);
    machine.end_process();
    machine.pass(30_s);
    told = {.trained = stage.trained};
    const auto store = store::open_store(file.string(), store::Access::read_only, machine.clock());
    const std::vector<records::JobEntry> entries = store->entries(store->find("job")->id, read, 10'000);
    read += entries.size();
    for (const records::JobEntry& entry : entries) {
      std::visit([&](const auto& body) { tell(told, body); }, entry.body);
    }
  }
  EXPECT_TRUE(!situation.puts_back || machine.gpu().power_limits().current.optional() == highest) << "limits stay";
  return told;
}

class Fronts : public testing::TestWithParam<Situation> {};

TEST_P(Fronts, MeetItAlike) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  const Situation& situation = GetParam();
  std::optional<Told> first;
  for (const Front& front : fronts) {
    if (front.recur == recur_in_demo && !situation.in_demo) {
      continue;
    }
    SCOPED_TRACE(front.name);
    const Told told = told_by(front, situation);
    EXPECT_EQ(fmt::format("{}", fmt::join(told.story, "; ")), situation.truth);
    ASSERT_EQ(told.charged.size(), told.trained.size());
    for (std::size_t i = 0; i < told.charged.size(); ++i) {
      EXPECT_NEAR(told.charged[i].time / told.trained[i].time, 1.0, 0.005);
      if (has_energy(told)) {
        EXPECT_NEAR(told.charged[i].energy / told.trained[i].energy, 1.0, 0.005);
      }
    }
    for (const records::LimitProfile& one : told.limits) {
      if (situation.true_limits) {
        const TrueCost epoch = true_epoch(situation, one.limit);
        EXPECT_NEAR(one.epoch_time / epoch.time, situation.epoch_is, 0.03 * situation.epoch_is) << watts(one.limit);
        EXPECT_NEAR(one.average_power / (epoch.energy / epoch.time), 1.0, 0.03) << watts(one.limit);
      }
    }
    first = first ? first : told;
    EXPECT_NEAR(told.progress, first->progress, 1);
    ASSERT_EQ(told.limits.size(), first->limits.size());
    for (std::size_t i = 0; i < told.limits.size(); ++i) {
      EXPECT_NEAR(told.limits[i].epoch_time / first->limits[i].epoch_time, 1.0, 0.01);
      EXPECT_NEAR(told.limits[i].average_power / first->limits[i].average_power, 1.0, 0.01);
    }
    ASSERT_EQ(told.charged.size(), first->charged.size());
    for (std::size_t i = 0; i < told.charged.size(); ++i) {
      EXPECT_NEAR(told.charged[i].time / first->charged[i].time, 1.0, 0.02);
    }
  }
}

// The work of the demo's network, in steps that take long enough to play quickly.
Situation of_demo(Situation situation) {
  constexpr double together = 64;
  constexpr int epochs_of_network = 5;  // to its target
  const demo::EpochWork work = demo::epoch_work(situation.gpus.front(), 64);
  Work& played = situation.works.front();
  played.epochs = std::min(played.epochs, epochs_of_network);
  played.steps = static_cast<int>(std::lround(static_cast<double>(work.steps) / together));
  played.step = work.step * (static_cast<double>(work.steps) / played.steps);
  situation.demand = work.demand;
  situation.profile_time = 5_s;
  situation.in_demo = true;
  return situation;
}

void allow(VirtualMachine& machine, Watts least, Watts most) {
  machine.allow(device::WattRange{.minimum = least, .maximum = most});
}

void fault(VirtualMachine& machine, const backends::virtual_gpu::Faults& faults) {
  machine.gpu().set_faults(faults);
}

// By the law of a V100 and an eta of one half, this load costs least under 175 W, and that of the demo under 100 W.
const std::vector<Situation> situations{
    {.name = "Usual",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W"},
    {.name = "EpochsAlone",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W",
     .shows_steps = false},
    {.name = "Evaluation",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W",
     .works = {{.evaluation = 5_s}},
     .true_limits = false},
    {.name = "FewSteps",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W",
     .works = {{.steps = 2, .step = 5_s}}},
    {.name = "ShortEpochs",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 100 epochs under 175 W",
     .works = {{.steps = 5, .step = 0.05_s, .epochs = 100}},
     .max_epochs = 200},
    {.name = "StepsOfAMillisecond",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 6 epochs under 175 W",
     .works = {{.steps = 5000, .step = 0.001_s, .epochs = 6}}},
    {.name = "TwoGpus",
     .truth = "2 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W",
     .gpus = {physics::preset("V100"), physics::preset("V100")}},
    {.name = "NoEnergyCounter",  // on the P100 of the law, the lowest limit costs least
     .truth = "1 GPU: 150, 200, 250 W; try 1; measured 150, 200, 250 W; reached after 12 epochs under 150 W",
     .gpus = {physics::preset("P100")},
     .limits = {150_W, 200_W, 250_W}},
    {.name = "LockedClocks",  // under which the load draws 107 W: higher limits are alike
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 250 W",
     .before =
         [](VirtualMachine& machine, Situation&, int) {
           (void)machine.gpu().lock_clocks(ClockDomain::graphics, {.minimum = 700_MHz, .maximum = 800_MHz});
         }},
    {.name = "OneLimitOnly",
     .truth = "1 GPU: 175 W; try 1; measured 175 W; reached after 12 epochs under 175 W",
     .limits = {175_W}},
    {.name = "LimitsLeftAlone",
     .truth = "1 GPU: 250 W; try 1; measured 250 W; reached after 12 epochs under 250 W",
     .sets_limits = false},
    {.name = "NoRightToSetLimits",
     .truth = "1 GPU: 250 W; try 1; measured 250 W; reached after 12 epochs under 250 W",
     .before = [](VirtualMachine& machine, Situation&, int) { fault(machine, {.setting = Reason::permission}); }},
    {.name = "PolicyOfTheNode",
     .truth = "1 GPU: 175 W; try 1; measured 175 W; reached after 12 epochs under 175 W",
     .before = [](VirtualMachine& machine, Situation&, int) { allow(machine, 120_W, 180_W); }},
    {.name = "PolicyWithoutALimitToTry",
     .truth = "1 GPU: 250 W; try 1; measured 250 W; reached after 12 epochs under 250 W",
     .before = [](VirtualMachine& machine, Situation&, int) { allow(machine, 110_W, 120_W); }},
    {.name = "LimitsRefusedWhileMeasuring",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 250 W; reached after 12 epochs, left out: setting the "
              "power limit 250 W of GPU 0 (Tesla V100-PCIE-32GB): unknown failure (a fault injected into a virtual "
              "GPU); `zeus doctor` shows what works here",
     .mishap = Mishap::limits_refused},
    {.name = "KnownFromAnEarlierNight",
     .truth = "1 GPU: 100, 175, 250 W; try 1 under 175 W; reached after 12 epochs under 175 W",
     .nights = 2},
    // The first night measured 250 W alone, and its epochs took twice as long.
    {.name = "ReferenceOfAnotherNight",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175 W; reached after 12 epochs under 175 W",
     .works = {{.steps = 30}},
     .policy = "lookahead",
     .has_target = false,
     .max_epochs = 12,
     .nights = 2,
     .mishap = Mishap::limits_refused,
     .of_night = 1,
     .epoch_is = 2.0,
     .before =
         [](VirtualMachine& machine, Situation& situation, int night) {
           fault(machine, {});
           situation.works.front().step = night == 1 ? 0.4_s : 0.2_s;
         }},
    {.name = "SuspendedWhileMeasuring",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W, "
              "left out: it was suspended for a while, for example by Ctrl-Z",
     .mishap = Mishap::suspended},
    {.name = "SuspendedAfterwards",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W, "
              "left out: it was suspended for a while, for example by Ctrl-Z",
     .mishap = Mishap::suspended,
     .in_epoch = 10},
    {.name = "BusyMachine",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W",
     .mishap = Mishap::late,
     .in_epoch = 10},
    {.name = "GpuLost",  // whatever process comes next puts it back
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W, "
              "left out: its energy is unknown: the GPU was lost while the window was open: device lost (a fault "
              "injected into a virtual GPU)",
     .mishap = Mishap::gpu_lost,
     .in_epoch = 5,
     .puts_back = false},
    {.name = "CounterReset",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 12 epochs under 175 W, "
              "left out: its energy is unknown: the energy counter was reset while the window was open (the driver "
              "was reloaded, or the GPU was reset)",
     .mishap = Mishap::counter_reset,
     .in_epoch = 5},
    {.name = "TargetOutOfReach",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; exhausted after 8 epochs under 175 W; "
              "given up: it missed the target, which has never been reached",
     .works = {{.epochs = 0}},
     .max_epochs = 8},
    {.name = "EpochsAtAnEnd",
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; reached after 8 epochs under 175 W",
     .has_target = false,
     .max_epochs = 8},
    {.name = "CostBoundMet",  // 128 costs five times as much as 64 did on the night before
     .truth = "1 GPU: 100, 175, 250 W; try 128; measured 100, 175, 250 W; stopped after 4 epochs under 175 W; "
              "try 64 under 175 W; reached after 12 epochs under 175 W",
     .works = {{}, {.batch_size = 128, .step = 1_s}},
     .nights = 2},
    {.name = "Fails",  // a loop by an exception
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; lost after 3 epochs under 175 W; "
              "given up: the command ended with exit code 1",
     .mishap = Mishap::fails,
     .in_epoch = 4},
    {.name = "FailsWhereOthersHaveWorked",
     .truth = "1 GPU: 100, 175, 250 W; try 128; measured 100, 175, 250 W; exhausted after 1 epochs under 175 W; "
              "try 64 under 175 W; reached after 12 epochs under 175 W",
     .works = {{}, {.batch_size = 128}},
     .nights = 2,
     .mishap = Mishap::fails,
     .in_epoch = 2},
    {.name = "StoppedByItsUser",  // who interrupts the command, or destroys the job
     .truth = "1 GPU: 100, 175, 250 W; try 1; measured 100, 175, 250 W; lost after 3 epochs under 175 W; "
              "given up: it was interrupted",
     .mishap = Mishap::stopped,
     .in_epoch = 4},
    of_demo({.name = "UsualInTheDemo",
             .truth = "1 GPU: 100, 175, 250 W; try 64; measured 100, 175, 250 W; reached after 5 epochs under 100 W"}),
    of_demo({.name = "OneLimitOnlyInTheDemo",
             .truth = "1 GPU: 175 W; try 64; measured 175 W; reached after 5 epochs under 175 W",
             .limits = {175_W}}),
    of_demo({.name = "TargetOutOfReachInTheDemo",
             .truth = "1 GPU: 100, 175, 250 W; try 64; measured 100, 175, 250 W; exhausted after 4 epochs under 100 W; "
                      "given up: it missed the target, which has never been reached",
             .works = {{.epochs = 0}},
             .max_epochs = 4}),
    of_demo({.name = "KnownFromAnEarlierNightInTheDemo",
             .truth = "1 GPU: 100, 175, 250 W; try 64 under 100 W; reached after 4 epochs under 100 W",
             .nights = 2,
             .before = [](VirtualMachine&, Situation& situation,
                          int night) { situation.works.front().epochs = night == 1 ? 5 : 4; }}),
};

INSTANTIATE_TEST_SUITE_P(All, Fronts, testing::ValuesIn(situations), [](const auto& one) { return one.param.name; });

// What a try of the second batch size does, after a night with the default: five epochs of 0.8 s. Each is 20 % or more
// away from its budget.
struct Script {
  double epoch = 0.0;             // seconds
  int epochs = 0;                 // to the target; 0: never
  std::optional<int> crash = {};  // after so many epochs
};

constexpr Script usual{.epoch = 0.8, .epochs = 5};
constexpr int most_epochs = 12;
constexpr std::array scripts{
    Script{0.8, 3},    Script{0.8, 4},  Script{0.4, 8},    Script{0.4, 10},   Script{0.2, 12},     // reach the target
    Script{0.2, 20},   Script{0.2, 0},  Script{0.4, 0},    Script{0.45, 13},  Script{0.3, 30},     // use up the epochs
    Script{5.6, 9},    Script{5.6, 0},  Script{5.4, 3},    Script{5.8, 2},    Script{11.0, 1},     // take long
    Script{0.4, 5, 0}, Script{12.0, 0}, Script{0.4, 5, 2}, Script{1.0, 0, 1}, Script{0.4, 5, 4}};  // or crash

// From the script alone; its power is that of the default, so costs are as times.
std::string foreseen(const Script& script) {
  const int fit = std::min(most_epochs, static_cast<int>(2.0 * usual.epoch * usual.epochs / script.epoch));
  const bool reaches = script.epochs > 0 && script.epochs <= fit;
  const int epochs = reaches ? script.epochs : fit;
  if (script.crash && *script.crash < epochs) {
    return fmt::format("exhausted after {} epochs", *script.crash);  // the default has worked
  }
  return fmt::format("{} after {} epochs", reaches ? "reached" : fit == most_epochs ? "exhausted" : "stopped", epochs);
}

Situation of_script(const Script& script) {
  const auto work = [](int batch_size, const Script& of) {
    return Work{.batch_size = batch_size, .steps = 8, .step = Seconds{of.epoch / 8}, .epochs = of.epochs};
  };
  return {.name = "script",
          .truth = {},
          .works = {work(10, usual), work(20, script)},
          .limits = {highest},
          .nan_in_odd_epochs = true,
          .max_epochs = most_epochs,
          .nights = 2,
          .mishap = script.crash ? Mishap::fails : Mishap::none,
          .in_epoch = script.crash.value_or(0) + 1};
}

TEST(OneStory, ScriptsEndInEveryFrontAsTheClosedFormForesees) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  for (const Front& front : fronts) {
    if (front.recur == recur_in_demo) {
      continue;
    }
    for (const Script& script : scripts) {
      SCOPED_TRACE(fmt::format("{}, {} s, {} epochs, crash {}", front.name, script.epoch, script.epochs,
                               script.crash.value_or(-1)));
      Told told = told_by(front, of_script(script));
      std::erase_if(told.story, [](const std::string& line) {
        return line.find(" W") != std::string::npos && line.find("after") == std::string::npos &&
               !line.starts_with("try");
      });
      const std::string end = foreseen(script);
      std::vector<std::string> expected{"try 20", end};
      if (!end.starts_with("reached")) {
        expected.insert(expected.end(), {"try 10", foreseen(usual)});
      }
      ASSERT_EQ(told.story.size(), expected.size()) << fmt::format("{}", fmt::join(told.story, "; "));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(told.story[i].starts_with(expected[i])) << told.story[i] << ", not " << expected[i];
      }
      ASSERT_EQ(told.charged.size(), told.trained.size());
      for (std::size_t i = 0; i < told.charged.size(); ++i) {
        if (!expected[2 * i + 1].starts_with("stopped")) {
          EXPECT_NEAR(told.charged[i].time / told.trained[i].time, 1.0, 0.005);
          EXPECT_NEAR(told.charged[i].energy / told.trained[i].energy, 1.0, 0.005);
        }
      }
    }
  }
}

}  // namespace
}  // namespace zeus::test
