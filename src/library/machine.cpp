#include "library/machine.hpp"

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "backends/rapl/rapl_backend.hpp"
#include "base/file_tree.hpp"
#include "device/inventory.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <zeus/measure.hpp>

#include <array>

namespace zeus {

namespace library {

const Machine& this_machine() {
  // Never destroyed: a monitor may outlive the static objects of the program that made it.
  static const auto* const machine = [] {
    static auto* const clock = new SystemClock;
    backends::nvml::NvmlBackend nvml{*clock};
    backends::amdsmi::AmdsmiBackend amdsmi{*clock};
    backends::rapl::RaplBackend rapl{FileTree{}, *clock};
    const std::array<device::Backend*, 3> backends{&nvml, &amdsmi, &rapl};
    const device::Inventory inventory = device::take_inventory(backends);
    const Environment environment = Environment::of_process();
    return new Machine{
        *clock, environment, inventory.gpus,
        std::make_shared<measure::SamplerSource>(measure::visible_devices(inventory, environment), *clock)};
  }();
  return *machine;
}

}  // namespace library

Monitor::Monitor(const Options& options)
    : windows_{std::make_unique<measure::Windows>(library::this_machine().sensors, options)} {
}

}  // namespace zeus
