// The processes that use a GPU: those whose load is on it.

#include "drivers/nvml/call.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::drivers::nvml {

namespace {

constexpr unsigned all_processes = 3;
constexpr unsigned compute_processes = 0;

std::vector<LoadOwner> users(const Gpu& gpu) {
  const std::optional<LoadOwner> owner = gpu.session.load_owner(gpu.index);
  return owner ? std::vector{*owner} : std::vector<LoadOwner>{};
}

template <typename Info, typename Make>
Code give_users(const std::vector<LoadOwner>& owners, unsigned* count, Info* out, Make make) {
  const bool fits = *count >= owners.size() && (out != nullptr || owners.empty());
  *count = static_cast<unsigned>(owners.size());
  if (!fits) {
    return Code::insufficient_size;
  }
  std::ranges::transform(owners, out, make);
  return Code::success;
}

Code give_compute_processes(std::string_view name, Device* device, unsigned* count, ProcessInfo* out) {
  return Entry::gpu_call(
      name, device,
      [&](const Gpu& gpu) {
        return give_users(users(gpu), count, out, [](const LoadOwner& owner) {
          return ProcessInfo{.pid = static_cast<unsigned>(owner.process),
                             .used_memory = owner.memory_bytes,
                             .gpu_instance = no_instance,
                             .compute_instance = no_instance};
        });
      },
      count);
}

Code give_no_processes(std::string_view name, Device* device, unsigned* count) {
  return Entry::gpu_call(
      name, device, [&](const Gpu&) { return give(count, 0U); }, count);
}

Code give_details(const Gpu& gpu, ProcessDetailList* list) {
  if (list->version != versioned<ProcessDetailList>(1)) {
    return Code::argument_version_mismatch;
  }
  const bool wanted = list->mode == all_processes || list->mode == compute_processes;
  return give_users(wanted ? users(gpu) : std::vector<LoadOwner>{}, &list->count, list->processes,
                    [](const LoadOwner& owner) {
                      return ProcessDetail{.pid = static_cast<unsigned>(owner.process),
                                           .used_memory = owner.memory_bytes,
                                           .gpu_instance = no_instance,
                                           .compute_instance = no_instance,
                                           .protected_memory = 0};
                    });
}

Code give_process_utilization(const Gpu& gpu, ProcessUtilization* out, unsigned* count,
                              unsigned long long last_seen_us) {
  const auto timestamp = static_cast<std::uint64_t>(stamp(gpu.session, gpu.now));
  const std::vector<LoadOwner> owners = timestamp > last_seen_us ? users(gpu) : std::vector<LoadOwner>{};
  if (owners.empty()) {
    *count = 0;
    return Code::not_found;
  }
  const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
  return give_users(owners, count, out, [&](const LoadOwner& owner) {
    return ProcessUtilization{.pid = static_cast<unsigned>(owner.process),
                              .timestamp_us = timestamp,
                              .sm = static_cast<unsigned>(std::lround(point.gpu_utilization * 100)),
                              .memory = static_cast<unsigned>(std::lround(point.memory_utilization * 100)),
                              .encoder = 0,
                              .decoder = 0};
  });
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetComputeRunningProcesses(Device* device, unsigned* count, ProcessInfoV1* processes) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        return give_users(users(gpu), count, processes, [](const LoadOwner& owner) {
          return ProcessInfoV1{.pid = static_cast<unsigned>(owner.process), .used_memory = owner.memory_bytes};
        });
      },
      count);
}

ZEUS_NVML Code nvmlDeviceGetComputeRunningProcesses_v2(Device* device, unsigned* count, ProcessInfo* processes) {
  return give_compute_processes(__func__, device, count, processes);
}

ZEUS_NVML Code nvmlDeviceGetComputeRunningProcesses_v3(Device* device, unsigned* count, ProcessInfo* processes) {
  return give_compute_processes(__func__, device, count, processes);
}

ZEUS_NVML Code nvmlDeviceGetGraphicsRunningProcesses(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetGraphicsRunningProcesses_v2(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetGraphicsRunningProcesses_v3(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetMPSComputeRunningProcesses(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetMPSComputeRunningProcesses_v2(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetMPSComputeRunningProcesses_v3(Device* device, unsigned* count, void*) {
  return give_no_processes(__func__, device, count);
}

ZEUS_NVML Code nvmlDeviceGetRunningProcessDetailList(Device* device, ProcessDetailList* list) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_details(gpu, list); }, list);
}

ZEUS_NVML Code nvmlDeviceGetProcessUtilization(Device* device, ProcessUtilization* utilization, unsigned* count,
                                               unsigned long long last_seen_us) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_process_utilization(gpu, utilization, count, last_seen_us); },
      count);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
