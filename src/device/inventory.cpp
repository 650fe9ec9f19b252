#include "device/inventory.hpp"

#include "device/visibility.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace zeus::device {

namespace {

bool holds(const std::vector<DiscoveredGpu>& gpus, const std::string& uuid) {
  return std::ranges::any_of(gpus, [&](const DiscoveredGpu& known) { return known.gpu->identity().uuid == uuid; });
}

void add(Inventory& inventory, std::string_view name, Discovery found) {
  for (DiscoveredGpu& device : found.gpus) {
    if (!holds(inventory.gpus, device.gpu->identity().uuid)) {
      inventory.gpus.push_back({std::move(device.gpu), std::move(device.control)});
    }
  }
  std::ranges::move(found.cpus, std::back_inserter(inventory.cpus));
  std::ranges::move(found.problems, std::back_inserter(inventory.problems));
  inventory.backends.push_back({std::string{name}, found.kind, std::move(found.summary), std::move(found.absence)});
}

void add_failure(Inventory& inventory, std::string_view name, std::string what, std::string fix) {
  inventory.problems.push_back({std::string{name}, std::move(what), std::move(fix)});
  inventory.backends.push_back({std::string{name}, {}, {}, std::nullopt});
}

void number(Inventory& inventory, const Environment& environment) {
  std::vector<VisibilityCandidate> candidates;
  for (const DiscoveredGpu& found : inventory.gpus) {
    candidates.push_back({found.gpu->identity(), found.gpu->mig().optional().value_or(MigState{})});
  }
  int next = 0;
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd}) {
    Visibility visibility = visible_gpus(candidates, vendor, environment);
    std::ranges::move(visibility.problems, std::back_inserter(inventory.problems));
    for (const VisibleGpu& visible : visibility.gpus) {
      inventory.gpus[visible.candidate].number = next++;
    }
  }
}

}  // namespace

std::vector<DiscoveredGpu> Inventory::visible() const {
  std::vector<DiscoveredGpu> seen;
  std::ranges::copy_if(gpus, std::back_inserter(seen), [](const DiscoveredGpu& one) { return one.number.has_value(); });
  std::ranges::sort(seen, {}, &DiscoveredGpu::number);
  return seen;
}

Inventory take_inventory(std::span<Backend* const> backends, const Environment& environment) {
  Inventory inventory;
  for (Backend* const backend : backends) {
    try {
      add(inventory, backend->name(), backend->discover());
    } catch (const Error& error) {
      add_failure(inventory, backend->name(), error.message(), error.advice());
    } catch (const std::exception& error) {
      add_failure(inventory, backend->name(), error.what(), "this is a defect in zeus, please report it");
    }
  }
  number(inventory, environment);
  return inventory;
}

std::string to_text(const DiscoveredGpu& gpu) {
  return to_text(gpu.gpu->identity(), gpu.number);
}

}  // namespace zeus::device
