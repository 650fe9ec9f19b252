#include "cli/device_report.hpp"

#include "control/ledger.hpp"
#include "control/state_folder.hpp"
#include "device/update_period.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zeus::cli {

using device::PowerKind;
using device::PowerScope;

namespace {

// That a back-end has nothing is worth a word only where nothing of its kind was found by anybody.
void explain_absence(DeviceReport& report) {
  for (const device::BackendReport& backend : report.inventory.backends) {
    const bool about_gpus = backend.kind == device::DeviceKind::gpu;
    const bool nothing_found = about_gpus ? report.inventory.gpus.empty() : report.inventory.cpus.empty();
    if (backend.absence && nothing_found) {
      report.problems.push_back(*backend.absence);
    }
  }
}

std::vector<std::optional<Holder>> find_holders(const Context& context, const device::Inventory& inventory) {
  std::vector<std::optional<Holder>> holders(inventory.gpus.size());
  if (const auto folder = control::find_state_folder(context.environment, ::geteuid())) {
    const control::Ledger ledger{FileTree{*folder}, context.files};
    std::ranges::transform(inventory.gpus, holders.begin(), [&](const device::DiscoveredGpu& found) {
      return ledger.holder(found.gpu->identity().uuid, context.clock.now());
    });
  }
  return holders;
}

}  // namespace

DeviceReport gather_devices(Context& context) {
  DeviceReport report;
  report.inventory = device::take_inventory(context.backends, context.environment);
  report.problems = report.inventory.problems;
  std::vector<const device::Gpu*> gpus;
  std::ranges::transform(report.inventory.gpus, std::back_inserter(gpus),
                         [](const device::DiscoveredGpu& found) { return found.gpu.get(); });
  report.update_periods = device::watch_update_periods(gpus, context.clock);
  report.holders = find_holders(context, report.inventory);
  explain_absence(report);
  return report;
}

ShownPower power_to_show(const device::Gpu& gpu) {
  ShownPower shown{gpu.power(PowerKind::instant, PowerScope::gpu), PowerKind::instant};
  for (const PowerKind kind : {PowerKind::average, PowerKind::plain}) {
    // That another kind is not supported says less than why this one failed.
    const bool replaceable = !shown.reading && shown.reading.failure().reason == device::Reason::unsupported;
    if (auto reading = gpu.power(kind, PowerScope::gpu); !shown.reading && (reading || replaceable)) {
      shown = {std::move(reading), kind};
    }
  }
  return shown;
}

}  // namespace zeus::cli
