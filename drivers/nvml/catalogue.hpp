// Facts about each GPU model that the vendor's library reports and the physics does not need: numbers from its data
// sheet and from the public PCI ID list. Constant data; any thread.
#pragma once

#include "physics/gpu_model.hpp"

#include <string_view>

namespace zeus::drivers::nvml {

struct Card {
  std::string_view model;  // the short name of the physics model
  unsigned pci_device;
  unsigned brand;
  unsigned architecture;
  int compute_major;
  int compute_minor;
  unsigned cores;
  unsigned memory_bus_bits;
  unsigned pcie_generation;
};

// A model without an entry gets the minimum of its architecture.
const Card& card(const physics::GpuModel& model);

}  // namespace zeus::drivers::nvml
