#include "device/inventory.hpp"

#include "device/visibility.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

namespace zeus::device {

namespace {

bool holds(const std::vector<DiscoveredGpu>& gpus, const std::string& uuid) {
  return std::ranges::any_of(gpus, [&](const DiscoveredGpu& known) { return known.gpu->identity().uuid == uuid; });
}

bool shows_any(const Inventory& inventory, GpuVendor vendor) {
  return std::ranges::any_of(inventory.gpus,
                             [&](const DiscoveredGpu& known) { return known.gpu->identity().vendor == vendor; });
}

bool is_readable(const CpuPackage& cpu) {
  return static_cast<bool>(cpu.energy(CpuDomain::package));
}

// Of a package itself, or of a zone of it: "package-1 dram".
bool is_of(const DeviceProblem& problem, const std::string& package) {
  return problem.device == package || problem.device.starts_with(package + " ");
}

// Adds this machine's packages. A package that cannot be read here is replaced by a back-end's that can read it.
void merge_cpus(Inventory& inventory, std::vector<std::shared_ptr<CpuPackage>> told) {
  const bool had_none = inventory.cpus.empty();
  for (std::shared_ptr<CpuPackage>& cpu : told) {
    const auto known =
        std::ranges::find(inventory.cpus, cpu->identity().name, [](const auto& one) { return one->identity().name; });
    if (known == inventory.cpus.end()) {
      if (had_none) {
        inventory.cpus.push_back(std::move(cpu));
      }
    } else if (!is_readable(**known) && is_readable(*cpu)) {
      std::erase_if(inventory.problems,
                    [&](const DeviceProblem& problem) { return is_of(problem, cpu->identity().name); });
      *known = std::move(cpu);
    }
  }
}

// Returns how many of the added GPUs belong to other nodes.
std::size_t add(Inventory& inventory, std::string_view name, Discovery found) {
  const bool is_told = found.from == DiscoveredFrom::daemon_here;
  const std::size_t before = inventory.gpus.size();
  std::vector<DiscoveredGpu> fresh;
  for (DiscoveredGpu& device : found.gpus) {
    const GpuIdentity& identity = device.gpu->identity();
    if (!holds(inventory.gpus, identity.uuid) && !(is_told && shows_any(inventory, identity.vendor))) {
      fresh.push_back({std::move(device.gpu), std::move(device.control)});
    }
  }
  std::ranges::move(fresh, std::back_inserter(inventory.gpus));
  if (is_told) {
    merge_cpus(inventory, std::move(found.cpus));
  } else {
    std::ranges::move(found.cpus, std::back_inserter(inventory.cpus));
  }
  std::ranges::move(found.problems, std::back_inserter(inventory.problems));
  inventory.backends.push_back({std::string{name}, found.kind, std::move(found.summary), std::move(found.absence)});
  return found.from == DiscoveredFrom::other_node ? inventory.gpus.size() - before : 0;
}

void add_failure(Inventory& inventory, std::string_view name, std::string what, std::string fix) {
  inventory.problems.push_back({std::string{name}, std::move(what), std::move(fix)});
  inventory.backends.push_back({std::string{name}, {}, {}, std::nullopt});
}

// The last `elsewhere` GPUs are those of other nodes.
void number(Inventory& inventory, std::size_t elsewhere, const Environment& environment) {
  const std::size_t here = inventory.gpus.size() - elsewhere;
  std::vector<VisibilityCandidate> candidates;
  for (std::size_t i = 0; i < here; ++i) {
    const Gpu& gpu = *inventory.gpus[i].gpu;
    candidates.push_back({gpu.identity(), gpu.mig().optional().value_or(MigState{})});
  }
  int next = 0;
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd}) {
    Visibility visibility = visible_gpus(candidates, vendor, environment);
    std::ranges::move(visibility.problems, std::back_inserter(inventory.problems));
    for (const VisibleGpu& visible : visibility.gpus) {
      inventory.gpus[visible.candidate].number = next++;
    }
  }
  for (std::size_t i = here; i < inventory.gpus.size(); ++i) {
    inventory.gpus[i].number = next++;
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
  std::size_t elsewhere = 0;
  for (Backend* const backend : backends) {
    try {
      elsewhere += add(inventory, backend->name(), backend->discover());
    } catch (const Error& error) {
      add_failure(inventory, backend->name(), error.message(), error.advice());
    } catch (const std::exception& error) {
      const auto* const refused = dynamic_cast<const std::system_error*>(&error);
      if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again) {
        add_failure(inventory, backend->name(), "the system starts no more threads",
                    "allow more memory and threads (`ulimit -v`, `ulimit -u`)");
      } else {
        add_failure(inventory, backend->name(), error.what(), "this is a defect in zeus, please report it");
      }
    }
  }
  number(inventory, elsewhere, environment);
  return inventory;
}

std::string to_text(const DiscoveredGpu& gpu) {
  return to_text(gpu.gpu->identity(), gpu.number);
}

}  // namespace zeus::device
