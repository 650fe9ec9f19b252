// Listens to all GPUs for ten seconds and prints what the sampler cost.
#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <zeus/measure.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>

namespace {

void run() {
  zeus::SystemClock clock;
  zeus::backends::nvml::NvmlBackend nvml{clock};
  const std::array<zeus::device::Backend*, 1> backends{&nvml};
  const auto source = std::make_shared<zeus::measure::SamplerSource>(
      zeus::measure::visible_devices(zeus::device::take_inventory(backends, zeus::Environment::of_process())), clock);
  zeus::Monitor monitor = zeus::measure::monitor_of(source, zeus::MonitorOptions{});
  const zeus::Monitor::Listening listening = monitor.listen();
  clock.sleep_until(clock.now() + zeus::Seconds{2});
  const zeus::SamplerCost before = monitor.sampler_cost();
  clock.sleep_until(clock.now() + zeus::Seconds{10});
  const zeus::SamplerCost after = monitor.sampler_cost();
  const zeus::Seconds ran = after.running - before.running;
  fmt::print("  sampler with {} GPUs                         {:>8.3f} % of a core, beside {:.3f} % in the driver\n",
             monitor.gpus().size(), 100 * ((after.busy - before.busy) / ran),
             100 * ((after.driver - before.driver) / ran));
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_sampler: {}\n", error.what());
    return 1;
  }
}
