// The `zeusd` program: chooses the real clock, the real environment and the back-ends, and lists the commands.

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/commands/command_control.hpp"
#include "backends/commands/override_plan.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "backends/rapl/rapl_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/standard_streams.hpp"
#include "command_line/options.hpp"
#include "command_line/program.hpp"
#include "daemon/administration.hpp"
#include "daemon/context.hpp"
#include "daemon/policy_commands.hpp"
#include "daemon/serve_command.hpp"
#include "daemon/token_commands.hpp"

#include <zeus/version.hpp>

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  zeus::occupy_standard_streams();
  zeus::SystemClock clock;
  const zeus::Environment environment = zeus::Environment::of_process();
  zeus::backends::nvml::NvmlBackend nvml{clock};
  zeus::backends::amdsmi::AmdsmiBackend amdsmi{clock};
  zeus::backends::rapl::RaplBackend rapl{zeus::FileTree{}, clock};
  const auto set_by_commands = [&](const std::filesystem::path& file, std::span<zeus::device::DiscoveredGpu> gpus) {
    namespace commands = zeus::backends::commands;
    commands::set_by_commands(
        gpus, std::make_shared<const commands::OverridePlan>(commands::load_overrides(file, ::geteuid())), environment);
  };
  zeus::daemon::Context context{std::cout,
                                std::cerr,
                                clock,
                                environment,
                                {&nvml, &amdsmi},
                                &rapl,
                                zeus::FileTree{},
                                std::string{zeus::version()},
                                set_by_commands};
  zeus::command_line::CommandsWith<zeus::daemon::Context> commands;
  commands.push_back(std::make_unique<zeus::daemon::ServeCommand>());
  commands.push_back(std::make_unique<zeus::daemon::TokenCommand>());
  commands.push_back(std::make_unique<zeus::daemon::ReloadCommand>());
  commands.push_back(std::make_unique<zeus::daemon::LeasesCommand>());
  commands.push_back(std::make_unique<zeus::daemon::PolicyCommand>());
  commands.push_back(std::make_unique<zeus::daemon::RestoreCommand>());
  zeus::daemon::Command* chosen = nullptr;
  zeus::command_line::CommandSyntax program;
  program.path = program.name = "zeusd";
  program.summary = "The daemon that lets users without root read and set GPUs, as its policy allows.";
  program.more = "docs/zeusd.md has the rest.";
  program.closing = "`zeusd help COMMAND` explains a command. " + program.more;
  zeus::command_line::Options options{program};
  options.add_commands(commands, chosen);
  options.example("zeusd serve", "serve this node's GPUs and CPUs, as root");
  options.example("zeusd leases", "who holds which GPU");
  options.example("zeusd policy explain --user ann --gpu 0", "what a user may do, and by which rule");
  return zeus::command_line::run_program(program, zeus::version(), std::vector<std::string>(argv + 1, argv + argc),
                                         chosen, context);
}
