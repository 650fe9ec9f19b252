// What the vendor's library says of each kind of card beside what the physics needs: numbers of its data sheet and of
// the public PCI id list. Constant data; any thread.
#pragma once

#include "physics/gpu_model.hpp"

#include <string_view>

namespace zeus::drivers::nvml {

struct Card {
  std::string_view model;  // the short name of its physics
  unsigned pci_device;
  unsigned brand;
  unsigned architecture;
  int compute_major;
  int compute_minor;
  unsigned cores;
  unsigned memory_bus_bits;
  unsigned pcie_generation;
};

// That of a model without an entry is what its architecture has at least.
const Card& card(const physics::GpuModel& model);

}  // namespace zeus::drivers::nvml
