// Recurrences over slices of data that drift, for tests/research/capriccio_test.py: through the code of `zeus run`, on
// a virtual machine and clock, and as the replay that `zeus simulate paper` makes of the same trainings' epochs. Prints
// the batch sizes of all tries of both, a line each.
//
//   slices_through_run EPOCHS.csv POLICY WINDOW SEED      of each slice and batch size, the first run alone

#include "optimize/batch_size/policy_factory.hpp"
#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "research/slice_trace.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"
#include "simulate/workload.hpp"
#include "store/open_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_machine.hpp"
#include "tests/trial/fronts.hpp"
#include "tests/trial/situation.hpp"

#include <zeus/units.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace zeus::test {
namespace {

constexpr int steps_of_epoch = 10;
// Epochs of BERT (SA) take minutes; these take as many hundredths, so that a night is short.
constexpr double shortened = 0.01;
constexpr double never_early = std::numeric_limits<double>::infinity();

// One run of each batch size alone, so that a try has the epochs of its slice, whichever try it is.
research::SliceTrace slowest_runs(const std::string& path) {
  std::ifstream file{path};
  research::SliceTrace trace = research::parse_slice_trace(path, std::string{std::istreambuf_iterator<char>{file}, {}});
  for (std::vector<research::SliceArm>& slice : trace.slices) {
    for (research::SliceArm& arm : slice) {
      arm.runs = {arm.runs.back()};
    }
  }
  return trace;
}

// A V100 whose power does not depend on its temperature, so that all epochs of a batch size cost the same.
physics::GpuModel cool_v100() {
  physics::GpuModel gpu = physics::preset("V100");
  gpu.power.leakage = 0.0;
  return gpu;
}

struct Slices {
  research::SliceTrace trace;
  Situation situation;
  simulate::SimulationOptions options;
  std::uint64_t seed = 0;
};

int most_epochs(const research::SliceTrace& trace) {
  int most = 1;
  for (const std::vector<research::SliceArm>& slice : trace.slices) {
    for (const research::SliceArm& arm : slice) {
      most = std::max(most, arm.runs.front().value_or(0));
    }
  }
  return most;
}

Slices slices_of(const std::string& path, const char* policy, std::size_t window, std::uint64_t seed) {
  Slices slices{.trace = slowest_runs(path), .situation = {}, .options = {}, .seed = seed};
  slices.options = {.beta = never_early, .window = window, .recurrences = slices.trace.slices.size(), .live = true};
  Situation& situation = slices.situation;
  situation.name = "Slices";
  situation.gpus = {cool_v100()};
  situation.limits = {physics::preset("V100").limits.max};
  situation.sets_limits = false;
  situation.policy = policy;
  situation.window = window;
  situation.beta = slices.options.beta;
  situation.max_epochs = most_epochs(slices.trace);
  situation.nights = static_cast<int>(slices.trace.slices.size());
  situation.works.clear();
  for (const research::SliceArm& arm : slices.trace.slices.front()) {
    const Seconds epoch =
        physics::workload("sentiment140").profile(physics::preset("V100"), arm.batch_size).epoch * shortened;
    situation.works.push_back({.batch_size = arm.batch_size, .steps = steps_of_epoch, .step = epoch / steps_of_epoch});
  }
  // The largest is the default, and the first in a situation.
  std::ranges::reverse(situation.works);
  return slices;
}

// What an epoch of each batch size takes on the virtual GPU, as a job of one limit.
simulate::Workload job_on_the_virtual_gpu(const Situation& situation) {
  simulate::Workload job{.name = "slices",
                         .arms = {},
                         .max_epochs = situation.max_epochs,
                         .default_batch_size = situation.works.front().batch_size,
                         .max_limit = situation.limits.front(),
                         .max_power = situation.limits.front()};
  for (const Work& work : situation.works) {
    VirtualMachine machine{situation.gpus};
    machine.begin_process();
    Stage stage{.machine = machine, .situation = situation, .store = {}};
    PlayedTraining training{stage, work.batch_size};
    for (int step = 0; step < work.steps; ++step) {
      training.step();
    }
    training.end();
    machine.end_process();
    const TrueCost& cost = stage.trained.front();
    job.arms.push_back(
        {.batch_size = work.batch_size,
         .limits = {{.limit = job.max_limit, .epoch_time = cost.time, .average_power = cost.energy / cost.time}},
         .runs = {}});
  }
  std::ranges::sort(job.arms, {}, &simulate::WorkloadArm::batch_size);
  return job;
}

std::vector<int> replayed(const Slices& slices, std::uint64_t& seed_of_policy) {
  const std::vector<simulate::Workload> workloads =
      research::slice_workloads(slices.trace, job_on_the_virtual_gpu(slices.situation));
  std::vector<simulate::Stage> stages;
  std::vector<simulate::Phase> phases;
  stages.reserve(workloads.size());
  for (const simulate::Workload& workload : workloads) {
    stages.emplace_back(workload, eta);
    phases.push_back({.from_recurrence = phases.size(), .stage = &stages.back(), .device = {}});
  }
  seed_of_policy = simulate::job_spec(stages.front(), slices.options, slices.seed).seed;
  const simulate::SimulatedJob job = simulate::simulate_job(
      phases, slices.options,
      [&](const optimize::JobSpec& spec) { return optimize::make_policy(slices.situation.policy, spec); }, slices.seed);
  std::vector<int> sizes;
  for (const simulate::SimulatedTry& one : job.tries) {
    sizes.push_back(workloads.front().arms[one.result.arm].batch_size);
  }
  return sizes;
}

std::vector<int> run_as_commands(const Slices& slices) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "jobs.sqlite";
  Situation situation = slices.situation;
  VirtualMachine machine{situation.gpus};
  for (std::size_t night = 0; night < slices.trace.slices.size(); ++night) {
    for (Work& work : situation.works) {
      const auto arm = std::ranges::find(slices.trace.slices[night], work.batch_size, &research::SliceArm::batch_size);
      work.epochs = arm->runs.front().value_or(0);
    }
    machine.begin_process();
    Stage stage{.machine = machine, .situation = situation, .store = file, .night = static_cast<int>(night) + 1};
    recur_as_command(stage);
    machine.end_process();
  }
  const auto store = store::open_store(file.string(), store::Access::read_only, machine.clock());
  std::vector<int> sizes;
  for (const records::JobEntry& entry : store->entries(store->find("job")->id, 0, 1'000'000)) {
    if (const auto* const started = std::get_if<records::TryStarted>(&entry.body)) {
      sizes.push_back(started->event.plan.batch_size);
    }
  }
  return sizes;
}

void compare(const std::vector<std::string>& words) {
  Slices slices = slices_of(words.at(0), words.at(1).c_str(), std::stoul(words.at(2)), std::stoul(words.at(3)));
  const std::vector<int> replay = replayed(slices, slices.situation.seed);
  std::cout << fmt::format("replay  {}\n", fmt::join(replay, " "));
  std::cout << fmt::format("run     {}\n", fmt::join(run_as_commands(slices), " "));
}

}  // namespace
}  // namespace zeus::test

int main(int count, char** arguments) {
  zeus::test::compare({arguments + 1, arguments + count});
}
