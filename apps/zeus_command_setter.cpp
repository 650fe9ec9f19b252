// The setter of zeusd where an administrator's commands set GPUs in place of their driver. It is a program of its own
// because it reads the commands' file and matches their output, which the other setter (zeus_setter.cpp) has no code
// for.

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/commands/command_control.hpp"
#include "backends/commands/override_plan.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/standard_streams.hpp"
#include "setter/work/serve.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("zeus_command_setter: zeusd starts this program itself, to set GPUs\n", stderr);
    return 2;
  }
  try {
    zeus::occupy_standard_streams();
    zeus::SystemClock clock;
    const zeus::Environment environment = zeus::Environment::of_process();
    zeus::backends::nvml::NvmlBackend nvml{clock};
    zeus::backends::amdsmi::AmdsmiBackend amdsmi{clock};
    const auto set_by_commands = [&](std::span<zeus::device::DiscoveredGpu> gpus) {
      namespace commands = zeus::backends::commands;
      commands::set_by_commands(
          gpus, std::make_shared<const commands::OverridePlan>(commands::load_overrides(argv[5], ::geteuid())),
          environment);
    };
    // A thread that hangs in a driver cannot be ended, so nothing may be destroyed.
    std::quick_exit(zeus::setter::run_setter({argv + 1, argv + argc}, {.clock = clock,
                                                                       .environment = environment,
                                                                       .backends = {&nvml, &amdsmi},
                                                                       .machine = zeus::FileTree{},
                                                                       .set_by_commands = set_by_commands}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zeus_command_setter: %s\n", error.what());
    return 1;
  }
}
