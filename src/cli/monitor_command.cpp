#include "cli/monitor_command.hpp"

#include "base/file_descriptor.hpp"
#include "cli/live_screen.hpp"
#include "cli/monitor_table.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "device/gpu_names.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <ctime>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace zeus::cli {

namespace {

constexpr const char* interval_window = "zeus monitor";
constexpr const char* whole_window = "zeus monitor, from its start";

// As far as it is known by now: later ticks of the counters make it more exact.
std::optional<Joules> so_far(const MeasuredEnergy& whole) {
  return whole.energy ? std::optional{whole.energy->value} : std::nullopt;
}

// Of an interval that is unknown, or else of the whole.
const std::string& reason_of(const MeasuredEnergy& interval, const MeasuredEnergy& whole) {
  return interval.reason.empty() ? whole.reason : interval.reason;
}

std::optional<Watts> mean(const MeasuredEnergy& measured, Seconds time) {
  return measured.energy && time > Seconds{0} ? std::optional{measured.energy->value / time} : std::nullopt;
}

GpuRow gpu_row(const device::Gpu& gpu, int index, const MeasuredEnergy& measured, Seconds time,
               const MeasuredEnergy& whole) {
  const device::Clocks clocks = gpu.clocks();
  GpuRow row;
  row.index = index;
  row.uuid = gpu.identity().uuid;
  row.name = gpu.identity().name;
  row.power = mean(measured, time);
  row.energy = so_far(whole);
  row.limit = gpu.power_limits().enforced.optional();
  row.sm_clock = clocks.sm.optional();
  row.memory_clock = clocks.memory.optional();
  row.temperature = gpu.temperature().optional();
  if (const auto utilization = gpu.utilization()) {
    row.utilization = utilization->gpu;
  }
  if (const auto reasons = gpu.throttle_reasons()) {
    row.throttle = to_string(*reasons);
  }
  row.reason = reason_of(measured, whole);
  return row;
}

MonitorMoment monitor_moment(const measure::Sampler& sampler, const Measurement& measurement, const Measurement& whole,
                             const Clock& clock, Instant start) {
  MonitorMoment moment;
  moment.time = static_cast<double>(clock.wall().microseconds_since_epoch) * 1e-6;
  moment.monotonic = measurement.end;
  moment.elapsed = measurement.end - (start - Instant{});
  const Seconds time = measurement.time();
  for (const auto& [index, measured] : measurement.gpu_energy) {
    moment.gpus.push_back(gpu_row(sampler.gpu(index).gpu(), index, measured, time, whole.gpu_energy.at(index)));
  }
  for (const auto& [index, measured] : measurement.cpu_energy) {
    CpuRow row;
    row.index = index;
    row.name = sampler.cpu(index, device::CpuDomain::package).package().identity().name;
    row.power = mean(measured, time);
    row.energy = so_far(whole.cpu_energy.at(index));
    row.reason = reason_of(measured, whole.cpu_energy.at(index));
    if (const auto memory = measurement.dram_energy.find(index); memory != measurement.dram_energy.end()) {
      row.dram_power = mean(memory->second, time);
      row.dram_energy = so_far(whole.dram_energy.at(index));
    }
    moment.cpus.push_back(std::move(row));
  }
  return moment;
}

}  // namespace

void MonitorCommand::declare(Options& options) {
  options.example("zeus monitor", "the machine, once a second");
  options.example("zeus monitor --interval 200ms --duration 1h --csv power.csv", "an hour of it, kept");
  options.footer(
      "Runs until it is interrupted, or q is pressed; arrows and page keys scroll.\n"
      "Power is the mean over each interval; energy counts from the start.");
  options.add_option("--gpus", gpus_, "Watch these GPUs only: by number, as `zeus devices` shows it, or by UUID")
      .delimiter(',')
      .value_name("GPU,GPU");
  options.add_option("--interval", interval_, "Time between readings, in seconds, or as 200ms")
      .rule({.least = 0.02, .most = 86400})
      .with_default()
      .value_name("S");
  options.add_option("--duration", duration_, "Stop after this long")
      .rule({.least = 0.0, .most = 1e9, .above_least = true})
      .value_name("S");
  options.add_option("--csv", csv_, "Add a line for each device and moment; - prints these alone")
      .path()
      .value_name("FILE|-");
  options.add_flag("--json", json_, "Print one JSON object a line, and no table");
  add_color_option(options, color_);
}

int MonitorCommand::run(Context& context) {
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  MonitorOptions options;
  if (!gpus_.empty()) {
    options.gpus = device::numbers_of(inventory, gpus_);
  }
  const auto source = std::make_shared<measure::SamplerSource>(measure::visible_devices(inventory), context.clock);
  Monitor monitor = measure::monitor_of(source, options);
  const bool csv_alone = csv_ == "-";
  if (csv_alone && json_) {
    throw BadUsage{"--json and --csv - both print lines of their own", "leave one of them out, or name a file"};
  }
  const FileDescriptor csv = csv_ && !csv_alone ? open_to_append(*csv_, moment_csv_header()) : FileDescriptor{};
  Moments moments{context.clock, interval_, duration_};
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const command_line::TerminalStyle style = command_line::terminal_style(color_, context.environment, is_terminal);
  const auto viewer = style.live && !json_ && !csv_alone ? std::make_unique<Viewer>(context.out, style.colour)
                                                         : std::unique_ptr<Viewer>{};
  MonitorMoment moment;
  monitor.begin(whole_window);
  monitor.begin(interval_window);
  bool go_on = true;
  for (bool first = true; go_on; first = false) {
    go_on = moments.wait(viewer.get());
    const Measurement measurement = monitor.end(interval_window);
    if (go_on) {
      monitor.begin(interval_window);
    }
    moment =
        monitor_moment(*source->sampler(), measurement, monitor.so_far(whole_window), context.clock, moments.start());
    if (csv_alone) {
      context.out << (first ? moment_csv_header() : "") << moment_csv(moment) << std::flush;
    } else if (csv) {
      write_all(csv, moment_csv(moment), *csv_);
    }
    if (json_) {
      context.out << moment_json(moment) << '\n' << std::flush;
    } else if (viewer) {
      viewer->show({.text = [moment](const auto& screen) { return moment_table(moment, screen); },
                    .rows = moment.gpus.size(),
                    .rows_shown = [moment](const Screen& screen) { return gpu_rows(moment, screen); }});
    } else if (!csv_alone) {
      context.out << moment_table(moment, paper(is_terminal, style.colour)) << '\n' << std::flush;
    }
    if (!context.out) {
      return exit_ok;  // the reader has closed the pipe
    }
  }
  return exit_ok;
}

}  // namespace zeus::cli
