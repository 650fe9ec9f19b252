// All devices that the back-ends of a program find on this machine, in one list, and the number that this program knows
// each GPU by. GPUs are numbered nowhere else: every bare number that is read or shown means this one. Made by one
// thread; a plain value from then on, whose devices have rules of their own.
#pragma once

#include "base/environment.hpp"
#include "device/backend.hpp"

#include <zeus/device_values.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::device {

// What one back-end reported.
struct BackendReport {
  std::string name;
  DeviceKind kind = DeviceKind::gpu;
  std::string summary;                   // empty when absent
  std::optional<DeviceProblem> absence;  // why it has nothing here
};

struct Inventory {
  // In the order of the back-ends, with hidden GPUs; the position is the machine's own number, which no variable
  // changes.
  std::vector<DiscoveredGpu> gpus;
  std::vector<std::shared_ptr<CpuPackage>> cpus;
  std::vector<DeviceProblem> problems;  // first of the back-ends, then of the visibility variables
  std::vector<BackendReport> backends;

  // The GPUs that this program sees; the position is the number.
  [[nodiscard]] std::vector<DiscoveredGpu> visible() const;
};

// Asks each back-end in turn. If one fails entirely, the list has a problem for it, and the others are still asked. A
// GPU that two back-ends find (the same UUID) is listed once, as the first one found it. Of this machine's devices, a
// daemon adds only those whose drivers show none here: a GPU that the driver hides from a program (as in a container)
// stays hidden. A CPU package that cannot be read here is read through the daemon. NVIDIA's GPUs come first, numbered
// by CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER in `environment`; then AMD's, by ROCm's variables (visibility.hpp);
// then those of other nodes, whatever the variables say.
Inventory take_inventory(std::span<Backend* const> backends, const Environment& environment);

// The name for messages: its number, or else its UUID.
std::string to_text(const DiscoveredGpu& gpu);

}  // namespace zeus::device
