// Everything that the back-ends of a program find on this machine, in one list.
// Made by one thread; a plain value from then on, whose devices have rules of their own.
#pragma once

#include "device/backend.hpp"

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
  std::string summary;             // empty when absent
  std::optional<Problem> absence;  // why it has nothing here
};

struct Inventory {
  std::vector<DiscoveredGpu> gpus;  // back-end after back-end; the position is the index that Zeus shows
  std::vector<std::shared_ptr<CpuPackage>> cpus;
  std::vector<Problem> problems;
  std::vector<BackendReport> backends;
};

// Asks each back-end in turn. One that fails altogether is a problem in the list, and the others are asked all the
// same. A GPU that two back-ends find (the same UUID) is listed once, as the first one found it.
Inventory take_inventory(std::span<Backend* const> backends);

}  // namespace zeus::device
