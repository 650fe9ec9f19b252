#include "backends/zeusd/zeusd_backend.hpp"

#include "backends/zeusd/zeusd_cpu.hpp"
#include "backends/zeusd/zeusd_gpu.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::backends::zeusd {

namespace {

constexpr std::string_view digits = "0123456789";

device::GpuIdentity identity_of(const protocol::ListedGpu& listed, const std::string& where, int index) {
  return {.vendor = protocol::vendor_of(listed.vendor.value_or("")).value_or(GpuVendor::nvidia),
          .uuid = listed.uuid.value_or(fmt::format("GPU-{}-of-{}", listed.id, where)),
          .pci = device::parse_pci_address(listed.pci_address.value_or("")).value_or(device::PciAddress{}),
          .index = index,
          .name = listed.name.value_or("GPU"),
          .driver = listed.driver.value_or("unknown"),
          .relative_speed = {}};
}

std::string name_of(const protocol::ListedCpu& listed) {
  return listed.name.value_or(fmt::format("package-{}", listed.id));
}

// {1, 0} of "package-1-die-0".
std::vector<int> numbers_in(std::string_view name) {
  std::vector<int> numbers;
  for (std::size_t begin = 0; (begin = name.find_first_of(digits, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(name.find_first_not_of(digits, begin), name.size());
    int number = 0;
    std::from_chars(name.data() + begin, name.data() + end, number);
    numbers.push_back(number);
    begin = end;
  }
  return numbers;
}

// A daemon numbers them by the kernel's zones; programs here order them by name, as they do without a daemon.
std::vector<protocol::ListedCpu> by_name(std::vector<protocol::ListedCpu> cpus) {
  std::ranges::stable_sort(cpus, {}, [](const protocol::ListedCpu& cpu) { return numbers_in(name_of(cpu)); });
  return cpus;
}

}  // namespace

ZeusdBackend::ZeusdBackend(std::shared_ptr<DaemonLink> link) : link_{std::move(link)} {
}

device::Discovery ZeusdBackend::discover() {
  try {
    return ask();
  } catch (const Error& error) {
    if (!std::exchange(warned_, true)) {
      log::warning(fmt::format("continuing without {}: {}", link_->name(), error.what()));
    }
    device::Discovery nothing;
    nothing.from = device::DiscoveredFrom::daemon_here;
    nothing.problems.push_back({link_->name(), error.message(), error.advice()});
    return nothing;
  }
}

device::Discovery ZeusdBackend::ask() {
  // A program that has waited for it once goes on.
  const protocol::DiscoveryAnswer& told =
      warned_ ? link_->discover_in_passing() : link_->discover(DaemonLink::patience_at_start);
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
  for (const protocol::ListedCpu& listed : by_name(told.cpus)) {
    const std::string name = name_of(listed);
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
