#include "cli/measure_command.hpp"

#include "base/child_process.hpp"
#include "base/orphans.hpp"
#include "base/printable.hpp"
#include "cli/measure_report.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "device/gpu_names.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>

namespace zeus::cli {

namespace {

constexpr Seconds longest_wait{3600};
constexpr const char* measure_window = "zeus measure";

GpusByNumber identities_of(const measure::Sampler::Devices& devices) {
  GpusByNumber gpus;
  std::ranges::transform(devices.gpus, std::back_inserter(gpus), [](const auto& gpu) { return gpu->identity(); });
  return gpus;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? word : ' ' + word;
  }
  return printable(shortened(text, 200));
}

}  // namespace

void MeasureCommand::declare(Options& options) {
  options.example("zeus measure -- python train.py", "what the whole run takes");
  options.example("zeus measure --gpus 0,1 --json result.json -- ./benchmark",
                  "two GPUs alone, and the result for a script");
  options.example("zeus measure --runs 10 -- ./benchmark", "the mean of ten runs, with its 95 % interval");
  options.footer(
      "Measures from the command's start until it and every process it has started are gone. Signals are passed\n"
      "on. Exits with the command's code (128+n for signal n), 125 on a failure of its own, 126 when the command\n"
      "cannot be executed, 127 when it is not found.");
  options.add_option("CMD", command_, "The command and its arguments, after --").required();
  options.add_option("--gpus", gpus_, "Measure these GPUs only: by number, as `zeus devices` shows it, or by UUID")
      .delimiter(',')
      .value_name("GPU,GPU");
  options.add_option("--cpus", cpus_, "Measure these CPU packages only")
      .delimiter(',')
      .rule(field::from_zero)
      .value_name("I,I");
  options
      .add_option("--runs", runs_, "Run the command N times, one after the other, and show the mean with its interval")
      .rule({.least = 1.0, .most = 10'000.0})
      .with_default();
  options.add_option("--json", json_, "Print one line of JSON instead of the summary; - is standard output")
      .path()
      .value_name("FILE|-");
  rates_.declare(options);
}

int MeasureCommand::failure_code() const {
  return ChildProcess::exit_own_failure;
}

int MeasureCommand::run(Context& context) {
  const records::EnergyRates rates = rates_.rates();
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  MonitorOptions options;
  if (!gpus_.empty()) {
    options.gpus = device::numbers_of(inventory, gpus_);
  }
  if (!cpus_.empty()) {
    options.cpus = cpus_;
  }
  const auto devices = measure::visible_devices(inventory);
  const GpusByNumber gpus = identities_of(devices);
  const auto source = std::make_shared<measure::SamplerSource>(devices, context.clock);
  Monitor monitor = measure::monitor_of(source, options);
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  // Processes that the command leaves behind count as part of it.
  const std::vector<pid_t> earlier = adopt_orphans();
  std::vector<Measurement> ended_well;
  Run last;
  for (std::uint64_t run = 1; run <= runs_ && last.exit_code == 0 && !last.asked_to_end; ++run) {
    last = run_once(monitor, context, earlier);
    if (last.exit_code == 0 && (!last.asked_to_end || runs_ == 1)) {
      ended_well.push_back(last.measurement);
    } else if (runs_ > 1 && last.exit_code == 0) {
      context.err << fmt::format("zeus: run {} of {} was asked to end and is the last\n", run, runs_);
    } else if (runs_ > 1) {
      context.err << fmt::format("zeus: run {} of {} ended with exit code {} and is the last\n", run, runs_,
                                 last.exit_code);
    }
  }
  if (last.why_not_run) {
    context.err << "zeus: " << *last.why_not_run << '\n';
  }
  const auto print_text = [&, command = command_text(command_)] {
    context.err << (ended_well.size() > 1 ? measure_text(ended_well, gpus, command, rates)
                                          : measure_text(ended_well.empty() ? last.measurement : ended_well.front(),
                                                         gpus, command, rates));
  };
  if (!json) {
    print_text();
    return last.exit_code;
  }
  try {
    json->write((runs_ > 1 ? measure_json(ended_well, gpus, last.exit_code, rates)
                           : measure_json(last.measurement, gpus, last.exit_code, rates)) +
                '\n');
  } catch (const Error&) {
    print_text();  // what was measured is not lost with the file
    throw;
  }
  return last.exit_code;
}

MeasureCommand::Run MeasureCommand::run_once(Monitor& monitor, const Context& context,
                                             std::span<const pid_t> earlier) const {
  monitor.begin(measure_window);
  ChildProcess child{{.command = command_, .environment = context.environment}};
  std::optional<int> ended;
  while (!ended) {
    ended = child.wait_for(longest_wait);
  }
  const std::optional<int> signal = wait_for_orphans(earlier);
  return {.measurement = monitor.settle(monitor.end(measure_window)),
          .exit_code = *ended,
          .asked_to_end = signal || child.asked_to_end(),
          .why_not_run = child.why_not_run()};
}

}  // namespace zeus::cli
