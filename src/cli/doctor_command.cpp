#include "cli/doctor_command.hpp"

#include "backends/zeusd/daemon_place.hpp"
#include "base/group_command.hpp"
#include "base/ink.hpp"
#include "base/privileges.hpp"
#include "cli/device_report.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "control/state_folder.hpp"
#include "drivers/session/session.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

namespace {

enum class State { ok, absent, problem };

struct Check {
  State state = State::ok;
  std::string what;
  std::string detail;
  std::string fix;  // empty when there is nothing to do
};

std::string_view state_word(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::absent:
      return "absent";
    case State::problem:
      break;
  }
  return "problem";
}

// Limits are set only where what was found is written down first.
Check check_records(const Context& context) {
  try {
    control::check_state_folder(context.environment, ::geteuid());
    return {State::ok, "permissions", "this user may set power limits and clocks", {}};
  } catch (const Error& error) {
    return {State::problem, "permissions",
            fmt::format("this user may set power limits and clocks, but they stay as they are: {}", error.message()),
            error.advice()};
  }
}

// In `zeus virtual` the drivers of this machine are not asked, so that nothing can be said of them.
bool simulated(const Context& context) {
  return context.environment.get(drivers::session_variable).has_value();
}

void check_backends(const Context& context, const device::Inventory& inventory, std::vector<Check>& checks) {
  if (simulated(context) && !inventory.gpus.empty()) {
    checks.push_back(
        {State::ok, "virtual", "the GPUs here are simulated; this machine's own drivers are not looked at", {}});
  }
  for (const device::BackendReport& backend : inventory.backends) {
    const bool hidden = simulated(context) && (backend.name == "nvml" || backend.name == "amdsmi");
    if (backend.absence && hidden) {
      continue;
    }
    if (backend.absence) {
      checks.push_back({State::absent, backend.absence->device, backend.absence->what, backend.absence->fix});
    } else if (!backend.summary.empty()) {
      checks.push_back({State::ok, backend.name, backend.summary, {}});
    }
  }
}

void check_gpus(const Context& context, const DeviceReport& report, std::vector<Check>& checks) {
  for (std::size_t index = 0; index < report.inventory.gpus.size(); ++index) {
    const device::Gpu& gpu = *report.inventory.gpus[index].gpu;
    const std::string name = to_text(report.inventory.gpus[index]);
    const bool counter = static_cast<bool>(gpu.energy_counter());
    const ShownPower power = power_to_show(gpu);
    if (counter && report.update_periods[index]) {
      checks.push_back(
          {State::ok,
           name,
           fmt::format("its energy counter moves every {:.0f} ms", Milliseconds{*report.update_periods[index]}.value()),
           {}});
    } else if (counter) {
      checks.push_back(
          {State::problem, name,
           fmt::format("its energy counter cannot be trusted: {}", to_string(report.update_periods[index].failure())),
           "update the driver; until then energy comes from power samples"});
    } else if (power.reading) {
      checks.push_back(
          {State::ok, name, "it has no energy counter: energy comes from power samples, which are less exact", {}});
    } else {
      checks.push_back({State::problem, name,
                        fmt::format("neither energy nor power can be read: {}", to_string(power.reading.failure())),
                        "look at `dmesg`, and update the driver"});
    }
    if (const auto persistence = gpu.persistence_mode(); persistence && !*persistence && !simulated(context)) {
      checks.push_back(
          {State::problem, name, "persistence mode is off: a power limit is lost when the last program ends",
           fmt::format("run `sudo nvidia-smi -i {} -pm 1`, or enable nvidia-persistenced", gpu.identity().index)});
    }
  }
}

void check_rights(const Context& context, const device::Inventory& inventory, std::vector<Check>& checks) {
  const control::LessorReport told = context.lessor ? context.lessor->report() : control::LessorReport{};
  const bool may_through_daemon = context.lessor && told.problems.empty();
  const std::string named = context.environment.get("ZEUSD_SOCK_PATH").value_or("");
  const std::string socket = named.empty() ? backends::zeusd::usual_socket : named;
  const bool daemon = context.files.exists(socket);
  const bool root = has_capability(context.files, CAP_SYS_ADMIN);
  if (!inventory.gpus.empty()) {
    if (root) {
      checks.push_back(check_records(context));
    } else if (may_through_daemon) {
      checks.push_back({State::ok, "permissions", "this user may set power limits and clocks through the daemon", {}});
    } else {
      checks.push_back({State::problem, "permissions",
                        "this user may read but not set power limits and clocks (CAP_SYS_ADMIN is missing)",
                        "run as root, start the container with `--cap-add SYS_ADMIN`, or run zeusd as root"});
    }
  }
  // This check has the fix, which the back-end's own problem lacks.
  std::erase_if(checks, [&](const Check& check) { return context.lessor && check.what == told.name; });
  for (const std::string& works : told.works) {
    checks.push_back({State::ok, told.name, works, {}});
  }
  for (const DeviceProblem& problem : told.problems) {
    checks.push_back({State::problem, problem.device, problem.what, problem.fix});
  }
  if (context.lessor) {
    return;
  }
  const std::string path = context.files.resolve(socket).string();
  if (daemon) {
    checks.push_back({State::ok, "daemon", fmt::format("there is a socket at {}", path), {}});
  } else {
    checks.push_back(
        {named.empty() ? State::absent : State::problem, "daemon", fmt::format("there is no socket at {}", path),
         named.empty() ? "start zeusd as root if users are to set limits, or to read CPU energy, without being root"
                       : "start zeusd with that `--socket-path`, or unset ZEUSD_SOCK_PATH"});
  }
}

// Which package is imported as `zeus`, if the Python package is installed: the one of ml-energy/zeus has that name too.
// The folder from which this was started is taken off Python's path, since anyone may have put a module there.
void check_python(const Context& context, std::vector<Check>& checks) {
  static constexpr const char* ask =
      "import sys\n"
      "sys.path[:] = [folder for folder in sys.path if folder]\n"
      "from zeus_cpp.__main__ import main\n"
      "sys.exit(main(['status']))";
  static constexpr std::string_view beginning = "import zeus: ";
  const GroupCommandEnd end =
      run_to_end({.words = {"python3", "-c", ask}, .environment = context.environment, .patience = Seconds{10}});
  const std::string first = end.output.substr(0, end.output.find('\n'));
  if (end.how != GroupCommandEnd::How::exited || !first.starts_with(beginning)) {
    return;
  }
  const std::string imported = "`import zeus` is " + first.substr(beginning.size());
  if (end.code == 0) {
    checks.push_back({State::ok, "python3", imported, {}});
  } else {
    checks.push_back({State::problem, "python3", imported,
                      "`import zeus_cpp` is this package; `python3 -m zeus_cpp status` shows what is installed"});
  }
}

std::string checks_json(const std::vector<Check>& checks) {
  records::JsonWriter json;
  json.object([&] {
    json.put_list("checks", checks, [&](const Check& check) {
      json.object([&] {
        json.put("state", state_word(check.state));
        json.put("what", check.what);
        json.put("detail", check.detail);
        json.put("fix", check.fix.empty() ? std::nullopt : std::optional{check.fix});
        if (check.fix.empty()) {
          json.put("reason", "there is nothing to fix");
        }
      });
    });
  });
  return json.take();
}

Ink state_ink(State state) {
  switch (state) {
    case State::ok:
      return Ink::green;
    case State::problem:
      return Ink::red;
    case State::absent:
      break;
  }
  return Ink::faint;
}

void print_checks(const std::vector<Check>& checks, bool in_colour, std::ostream& out) {
  for (const Check& check : checks) {
    const std::string state = fmt::format("{:<8}", state_word(check.state));
    out << inked(state, state_ink(check.state), in_colour) << fmt::format(" {}: {}\n", check.what, check.detail);
    if (!check.fix.empty()) {
      out << fmt::format("{:<8} fix: {}\n", "", check.fix);
    }
  }
}

}  // namespace

void DoctorCommand::declare(Options& options) {
  options.example("zeus doctor", "a line for each thing that has to work, with the fix where it does not");
  options.add_flag("--json", json_, "Print JSON, on one line");
  add_color_option(options, color_);
}

int DoctorCommand::run(Context& context) {
  const DeviceReport report = gather_devices(context);
  std::vector<Check> checks;
  check_backends(context, report.inventory, checks);
  check_gpus(context, report, checks);
  for (const DeviceProblem& problem : report.problems) {
    const bool known = std::ranges::any_of(
        checks, [&](const Check& check) { return check.what == problem.device && check.detail == problem.what; });
    if (!known) {
      checks.push_back({State::problem, problem.device, problem.what, problem.fix});
    }
  }
  check_rights(context, report.inventory, checks);
  check_python(context, checks);
  if (json_) {
    context.out << checks_json(checks) << '\n';
  } else {
    print_checks(checks, command_line::colour_on_output(color_, context.environment), context.out);
  }
  return exit_ok;
}

}  // namespace zeus::cli
