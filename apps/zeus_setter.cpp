// The setter of zeusd: the process that has the rights to set GPUs. zeusd starts it, and strangers cannot talk to it.

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/standard_streams.hpp"
#include "setter/work/serve.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("zeus_setter: zeusd starts this program itself, to set GPUs\n", stderr);
    return 2;
  }
  try {
    zeus::occupy_standard_streams();
    zeus::SystemClock clock;
    const zeus::Environment environment = zeus::Environment::of_process();
    zeus::backends::nvml::NvmlBackend nvml{clock};
    zeus::backends::amdsmi::AmdsmiBackend amdsmi{clock};
    // A thread that hangs in a driver cannot be ended, so nothing may be destroyed.
    std::quick_exit(zeus::setter::run_setter({argv + 1, argv + argc}, {.clock = clock,
                                                                       .environment = environment,
                                                                       .backends = {&nvml, &amdsmi},
                                                                       .machine = zeus::FileTree{},
                                                                       .set_by_commands = {}}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zeus_setter: %s\n", error.what());
    return 1;
  }
}
