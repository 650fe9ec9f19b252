#include "cli/devices_command.hpp"

#include "cli/device_report.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"

#include <ostream>

namespace zeus::cli {

void DevicesCommand::declare(Options& options) {
  options.example("zeus devices", "the GPUs and CPU packages here, and their numbers");
  options.example("zeus devices --json | jq -r '.gpus[].uuid'", "the same for a script");
  options.add_flag("--json", json_, "Print JSON, on one line");
  add_color_option(options, color_);
}

int DevicesCommand::run(Context& context) {
  const DeviceReport report = gather_devices(context);
  if (json_) {
    context.out << to_json(report) << '\n';
  } else {
    context.out << to_text(report, command_line::colour_on_output(color_, context.environment));
  }
  return exit_ok;
}

}  // namespace zeus::cli
