#include "library/machine.hpp"

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "backends/rapl/rapl_backend.hpp"
#include "backends/zeusd/zeusd_backend.hpp"
#include "backends/zeusd/zeusd_lessor.hpp"
#include "base/clock.hpp"
#include "base/dynamic_library.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "control/open_lease_book.hpp"
#include "measure/devices.hpp"
#include "measure/fork_guard.hpp"
#include "measure/windows.hpp"

#include <zeus/measure.hpp>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace zeus {

namespace library {

namespace {

Machine* find_machine() {
  static auto* const clock = new SystemClock;
  backends::nvml::NvmlBackend nvml{*clock};
  backends::amdsmi::AmdsmiBackend amdsmi{*clock};
  backends::rapl::RaplBackend rapl{FileTree{}, *clock};
  std::vector<device::Backend*> backends{&nvml, &amdsmi, &rapl};
  const Environment environment = Environment::of_process();
  std::optional<backends::zeusd::ZeusdBackend> zeusd;
  std::shared_ptr<control::Lessor> lessor;
  if (const auto daemon = backends::zeusd::link_to_daemon(environment, FileTree{}, *clock)) {
    backends.push_back(&zeusd.emplace(daemon));
    lessor = std::make_shared<backends::zeusd::ZeusdLessor>(daemon);
  }
  auto* const machine = new Machine{*clock, device::take_inventory(backends, environment), {}, {}, std::move(lessor)};
  machine->gpus = machine->inventory.visible();
  machine->sampler = std::make_shared<measure::SamplerSource>(measure::visible_devices(machine->inventory), *clock);
  return machine;
}

}  // namespace

const Machine& this_machine() {
  // Never destroyed: a monitor may outlive the static objects of the program that made it.
  static const Machine* const machine = find_machine();
  return *machine;
}

control::LeaseBook open_lease_book(std::vector<device::DiscoveredGpu> gpus) {
  return control::open_lease_book(Environment::of_process(), FileTree{}, folder_of_this_code(), std::move(gpus),
                                  this_machine().clock, control::Lends::to_descendants, this_machine().lessor);
}

control::LeaseBook& lease_book() {
  static auto* const mutex = new measure::ForkMutex;
  static control::LeaseBook* book = nullptr;
  static std::uint64_t opened_after_forks = 0;
  const Machine& machine = this_machine();
  (void)machine.sampler->sampler();  // reopens the devices in a forked child
  const std::lock_guard guard{*mutex};
  if (book == nullptr || opened_after_forks != measure::fork_count()) {
    book = new control::LeaseBook{open_lease_book(machine.inventory.gpus)};
    opened_after_forks = measure::fork_count();
  }
  return *book;
}

}  // namespace library

Monitor::Monitor(const Options& options) : Monitor{measure::monitor_of(library::this_machine().sampler, options)} {
}

}  // namespace zeus
