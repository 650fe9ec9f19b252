// Everything that the back-ends of a program find on this machine, in one list, and the number that this program knows
// each GPU by. There is no other place where GPUs are numbered: whatever takes or shows a bare number means this one.
// Made by one thread; a plain value from then on, whose devices have rules of their own.
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

// What one back-end had to say.
struct BackendReport {
  std::string name;
  DeviceKind kind = DeviceKind::gpu;
  std::string summary;                   // empty when absent
  std::optional<DeviceProblem> absence;  // why it has nothing here
};

struct Inventory {
  // Back-end after back-end, hidden ones as well; the position is the machine's own number, which no variable changes.
  std::vector<DiscoveredGpu> gpus;
  std::vector<std::shared_ptr<CpuPackage>> cpus;
  std::vector<DeviceProblem> problems;  // of the back-ends, then of the visibility variables
  std::vector<BackendReport> backends;

  // Those that this program sees; the position is the number.
  [[nodiscard]] std::vector<DiscoveredGpu> visible() const;
};

// Asks each back-end in turn. One that fails altogether is a problem in the list, and the others are asked all the
// same. A GPU that two back-ends find (the same UUID) is listed once, as the first one found it. Of this machine's
// devices a daemon adds only those that its drivers do not show here at all: a GPU that the driver hides from a program
// (as in a container) stays hidden. A CPU package that cannot be read here is the daemon's. NVIDIA's GPUs are numbered
// as CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER in `environment` leave them, AMD's after them as ROCm's variables do
// (visibility.hpp), and those of other nodes after all, whatever the variables say.
Inventory take_inventory(std::span<Backend* const> backends, const Environment& environment);

// As messages name it: by its number, or else by its UUID.
std::string to_text(const DiscoveredGpu& gpu);

}  // namespace zeus::device
