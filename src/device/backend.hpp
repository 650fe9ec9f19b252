// A back-end: one way to find devices (a vendor's library, the kernel's files, the daemon, the virtual devices).
// A back-end is made by a composition root and used by one thread at a time; the devices it returns have rules of their
// own and outlive it.
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

// One GPU with its two faces. Whoever is not `control` passes on `gpu` alone.
struct DiscoveredGpu {
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<GpuControl> control;  // null where nothing can be set
  // What this program knows it by, and people call it: N of "cuda:N". Nothing where the visibility variables hide it.
  // Given by take_inventory() alone.
  std::optional<int> number = std::nullopt;
};

enum class DeviceKind { gpu, cpu };

// Through whose eyes devices are seen.
enum class DiscoveredFrom {
  this_process,
  daemon_here,  // this machine's, as a daemon on it tells of them
  other_node,   // another machine's
};

struct Discovery {
  DiscoveredFrom from = DiscoveredFrom::this_process;
  DeviceKind kind = DeviceKind::gpu;              // what this back-end looks for
  std::vector<DiscoveredGpu> gpus;                // in the driver's order
  std::vector<std::shared_ptr<CpuPackage>> cpus;  // in the order of their indices
  // What is here and does not work as it should: a GPU that cannot be opened, a zone that may not be read.
  std::vector<DeviceProblem> problems;
  // Why this back-end has nothing here, where that is an ordinary state of a machine: no such driver, no such hardware.
  std::optional<DeviceProblem> absence;
  // What was found, for a person: "NVML 12.550.54.15, driver 550.54.15". Empty when absent.
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

  // Looks anew each time. What one device does wrong is a problem in the list and leaves the others alone.
  [[nodiscard]] virtual Discovery discover() = 0;
};

}  // namespace zeus::device
