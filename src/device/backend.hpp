// A back-end: one way to find devices (a vendor's library, the kernel's files, the daemon, the virtual devices).
// A composition root makes a back-end, and one thread at a time uses it. The devices that it returns have rules of
// their own and outlive it.
#pragma once

#include "device/cpu_package.hpp"
#include "device/gpu.hpp"
#include "device/gpu_control.hpp"

#include <zeus/device_values.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::device {

// One GPU: what reads it and what sets it. Only `control` may have `control`; everything else passes on `gpu` alone.
struct DiscoveredGpu {
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<GpuControl> control;  // null if nothing can be set
  // The number that programs and people use for it: N of "cuda:N". Nothing if the visibility variables hide the GPU.
  // Set by take_inventory() only.
  std::optional<int> number = std::nullopt;
};

enum class DeviceKind { gpu, cpu };

// Where a back-end's knowledge of its devices comes from.
enum class DiscoveredFrom {
  this_process,
  daemon_here,  // this machine's, as a daemon on it reports them
  other_node,   // another machine's
};

struct Discovery {
  DiscoveredFrom from = DiscoveredFrom::this_process;
  DeviceKind kind = DeviceKind::gpu;              // what this back-end looks for
  std::vector<DiscoveredGpu> gpus;                // in the driver's order
  std::vector<std::shared_ptr<CpuPackage>> cpus;  // in the order of their indices
  // Devices that are here but do not work as they should: a GPU that cannot be opened, a zone that may not be read.
  std::vector<DeviceProblem> problems;
  // Why this back-end has nothing here, if that is an ordinary state of a machine: no such driver, no such hardware.
  std::optional<DeviceProblem> absence;
  // What was found, for messages: "NVML 12.550.54.15, driver 550.54.15". Empty if absent.
  std::string summary;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // "nvml", "rapl"
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Looks again each time. A device that fails is a problem in the list and does not affect the others.
  [[nodiscard]] virtual Discovery discover() = 0;
};

}  // namespace zeus::device
