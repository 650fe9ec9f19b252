#include "sweep/leased_gpus.hpp"

#include "control/open_lease_book.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace zeus::sweep {

LeasedGpus::LeasedGpus(const run::Place& place)
    : place_{place},
      inventory_{device::take_inventory(place.backends, place.environment)},
      visible_{inventory_.visible()} {
}

std::optional<std::string> LeasedGpus::try_to_take(int count) {
  const auto wanted = static_cast<std::size_t>(count);
  if (wanted > visible_.size()) {
    throw Error{ErrorKind::unavailable,
                fmt::format("the run asks for {} GPUs, and this host shows {}", wanted, visible_.size()),
                "`zeus doctor` on that host says why"};
  }
  if (wanted == 0) {
    return std::nullopt;
  }
  control::LeaseBook book = control::open_lease_book(place_.environment, place_.machine, place_.beside, inventory_.gpus,
                                                     place_.clock, control::Lends::to_descendants, place_.lessor);
  std::string why;
  for (auto gpu = visible_.begin(); gpu != visible_.end() && leases_.size() < wanted; ++gpu) {
    try {
      leases_.push_back(book.acquire(gpu->gpu->identity().uuid));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::conflict && error.kind() != ErrorKind::timeout) {
        leases_.clear();
        throw;
      }
      why = error.message();
    }
  }
  if (leases_.size() == wanted) {
    return std::nullopt;
  }
  leases_.clear();
  return why;
}

void LeasedGpus::set(std::optional<Watts> power_limit, std::optional<Megahertz> clock) {
  for (control::Lease& lease : leases_) {
    if (power_limit) {
      lease.set_power_limit(*power_limit);
    }
    if (clock) {
      lease.lock_clocks(ClockDomain::graphics, {.minimum = *clock, .maximum = *clock});
    }
  }
}

void LeasedGpus::renew() {
  for (control::Lease& lease : leases_) {
    lease.renew();
  }
}

void LeasedGpus::release() {
  for (control::Lease& lease : leases_) {
    lease.release();
  }
  leases_.clear();
}

std::vector<const device::DiscoveredGpu*> LeasedGpus::gpus() const {
  std::vector<const device::DiscoveredGpu*> list;
  for (const device::DiscoveredGpu& gpu : visible_) {
    if (leases_.empty() || std::ranges::any_of(leases_, [&](const control::Lease& lease) {
          return lease.gpu().identity().uuid == gpu.gpu->identity().uuid;
        })) {
      list.push_back(&gpu);
    }
  }
  return list;
}

bool LeasedGpus::has(GpuVendor vendor) const {
  return std::ranges::any_of(
      inventory_.gpus, [vendor](const device::DiscoveredGpu& gpu) { return gpu.gpu->identity().vendor == vendor; });
}

Environment LeasedGpus::environment() const {
  if (leases_.empty()) {
    return place_.environment;
  }
  std::vector<std::string> nvidia;
  std::vector<std::string> amd;
  std::vector<std::string> amd_numbers;
  for (const device::DiscoveredGpu* const gpu : gpus()) {
    const device::GpuIdentity identity = gpu->gpu->identity();
    if (identity.vendor == GpuVendor::nvidia) {
      nvidia.push_back(identity.uuid);
    } else {
      amd_numbers.push_back(fmt::format("{}", amd.size()));
      amd.push_back(identity.uuid);
    }
  }
  // An empty variable hides all GPUs of its vendor.
  const bool has_both = has(GpuVendor::nvidia) && has(GpuVendor::amd);
  Environment::Variables variables = place_.environment.variables();
  if (!nvidia.empty() || has_both) {
    variables.insert_or_assign("CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(nvidia, ",")));
  }
  if (!amd.empty() || has_both) {
    // The other two would choose again among those that this one leaves.
    variables.erase("HIP_VISIBLE_DEVICES");
    variables.erase("GPU_DEVICE_ORDINAL");
    variables.insert_or_assign("ROCR_VISIBLE_DEVICES", fmt::format("{}", fmt::join(amd, ",")));
  }
  if (has_both && !amd.empty()) {
    // All of them: HIP would otherwise choose by CUDA's variable.
    variables.insert_or_assign("HIP_VISIBLE_DEVICES", fmt::format("{}", fmt::join(amd_numbers, ",")));
  }
  return Environment{std::move(variables)};
}

std::vector<int> LeasedGpus::numbers() const {
  std::vector<int> numbers;
  for (const device::DiscoveredGpu* const gpu : gpus()) {
    numbers.push_back(gpu->number.value_or(0));
  }
  return numbers;
}

std::vector<RunGpu> LeasedGpus::list() const {
  std::vector<RunGpu> list;
  for (const device::DiscoveredGpu* const gpu : gpus()) {
    const device::GpuIdentity identity = gpu->gpu->identity();
    const PowerLimits limits = gpu->gpu->power_limits();
    list.push_back({.uuid = identity.uuid,
                    .name = identity.name,
                    .limit = limits.enforced ? limits.enforced.optional() : limits.current.optional()});
  }
  return list;
}

}  // namespace zeus::sweep
