#include "backends/zeusd/zeusd_backend.hpp"

#include "backends/zeusd/zeusd_cpu.hpp"
#include "backends/zeusd/zeusd_gpu.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace zeus::backends::zeusd {

namespace {

device::GpuIdentity identity_of(const protocol::ListedGpu& listed, const std::string& where, int index) {
  return {.vendor = protocol::vendor_of(listed.vendor.value_or("")).value_or(GpuVendor::nvidia),
          .uuid = listed.uuid.value_or(fmt::format("GPU-{}-of-{}", listed.id, where)),
          .pci = device::parse_pci_address(listed.pci_address.value_or("")).value_or(device::PciAddress{}),
          .index = index,
          .name = listed.name.value_or("GPU"),
          .driver = listed.driver.value_or("unknown"),
          .relative_speed = {}};
}

}  // namespace

ZeusdBackend::ZeusdBackend(std::shared_ptr<DaemonLink> link) : link_{std::move(link)} {
}

device::Discovery ZeusdBackend::discover() {
  try {
    return ask();
  } catch (const Error& error) {
    if (!std::exchange(warned_, true)) {
      log::warning(fmt::format("going on without {}: {}", link_->name(), error.what()));
    }
    device::Discovery nothing;
    nothing.from = device::DiscoveredFrom::daemon_here;
    nothing.problems.push_back({link_->name(), error.message(), error.advice()});
    return nothing;
  }
}

device::Discovery ZeusdBackend::ask() {
  const protocol::DiscoveryAnswer& told = link_->discover(DaemonLink::patience_at_start);
  device::Discovery found;
  const bool is_here = link_->is_here();
  found.from = is_here ? device::DiscoveredFrom::daemon_here : device::DiscoveredFrom::other_node;
  const auto openings = std::make_shared<Openings>();
  const std::string where = link_->place().endpoint.name();
  for (const protocol::ListedGpu& listed : told.gpus) {
    found.gpus.push_back(
        {std::make_shared<ZeusdGpu>(link_, openings, identity_of(listed, where, static_cast<int>(found.gpus.size())),
                                    listed.id),
         nullptr});
  }
  for (const protocol::ListedCpu& listed : told.cpus) {
    const std::string name = listed.name.value_or(fmt::format("package-{}", listed.id));
    found.cpus.push_back(std::make_shared<ZeusdCpu>(
        link_, openings,
        device::CpuIdentity{static_cast<int>(found.cpus.size()), is_here ? name : fmt::format("{} of {}", name, where)},
        listed.id));
  }
  found.summary =
      fmt::format("{}{}: {} GPU{}, {} CPU package{}", link_->name(),
                  told.zeusd ? ", version " + told.zeusd->version : " (it gives no leases)", found.gpus.size(),
                  found.gpus.size() == 1 ? "" : "s", found.cpus.size(), found.cpus.size() == 1 ? "" : "s");
  return found;
}

}  // namespace zeus::backends::zeusd
