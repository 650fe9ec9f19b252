#include "cli/measure_command.hpp"

#include "base/child_process.hpp"
#include "base/orphans.hpp"
#include "base/printable.hpp"
#include "cli/measure_report.hpp"
#include "cli/options.hpp"
#include "cli/output_file.hpp"
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
constexpr const char* window = "zeus measure";

GpusByNumber identities_of(const measure::Sampler::Devices& devices) {
  GpusByNumber gpus;
  std::ranges::transform(devices.gpus, std::back_inserter(gpus), [](const auto& gpu) { return gpu->identity(); });
  return gpus;
}

std::string joined(const std::vector<std::string>& words) {
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
  options.footer(
      "Measures from the command's start until it and every process it has started are gone. Signals are passed on.\n"
      "Exits with the command's code (128+n for signal n), 125 on a failure of its own, 126 when the command cannot "
      "be\n"
      "executed, 127 when it is not found.");
  options.add_option("CMD", command_, "The command and its arguments, after --").required();
  options.add_option("--gpus", gpus_, "Measure these GPUs only (numbers as in `zeus devices`)")
      .delimiter(',')
      .rule(field::from_zero)
      .value_name("I,I");
  options.add_option("--cpus", cpus_, "Measure these CPU packages only")
      .delimiter(',')
      .rule(field::from_zero)
      .value_name("I,I");
  options.add_option("--json", json_, "Print one line of JSON instead of the summary; - is standard output")
      .path()
      .value_name("FILE|-");
}

int MeasureCommand::failure_code() const {
  return ChildProcess::exit_own_failure;
}

int MeasureCommand::run(Context& context) {
  MonitorOptions options;
  if (!gpus_.empty()) {
    options.gpus = gpus_;
  }
  if (!cpus_.empty()) {
    options.cpus = cpus_;
  }
  const auto devices = measure::visible_devices(device::take_inventory(context.backends, context.environment));
  const GpusByNumber gpus = identities_of(devices);
  const auto source = std::make_shared<measure::SamplerSource>(devices, context.clock);
  Monitor monitor{std::make_unique<measure::Windows>(source, options)};
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  // Processes that the command leaves behind belong to it.
  adopt_orphans();
  monitor.begin(window);
  int code = 0;
  Measurement measurement;
  {
    ChildProcess child{{.command = command_, .environment = context.environment}};
    std::optional<int> ended;
    while (!ended) {
      ended = child.wait_for(longest_wait);
    }
    code = *ended;
    wait_for_orphans();
    measurement = monitor.settle(monitor.end(window));
  }
  if (const auto reason = ChildProcess::why_not_run(command_[0], code)) {
    context.err << "zeus: " << *reason << '\n';
  }
  if (json) {
    json->write(measure_json(measurement, gpus, code) + '\n');
  } else {
    context.err << measure_text(measurement, gpus, joined(command_));
  }
  return code;
}

}  // namespace zeus::cli
