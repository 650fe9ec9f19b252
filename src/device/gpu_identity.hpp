// Who a GPU is: what stays the same from discovery until it is taken out of the machine. A plain value.
#pragma once

#include "device/pci_address.hpp"

#include <zeus/device_values.hpp>

#include <optional>
#include <string>

namespace zeus::device {

struct GpuIdentity {
  GpuVendor vendor = GpuVendor::nvidia;
  // What leases and records name a GPU by: "GPU-" and a UUID in lower case for NVIDIA, as its driver says it for
  // others.
  std::string uuid;
  PciAddress pci;
  // Position in the driver's own order, which is that of nvidia-smi, or of HIP.
  int index = 0;
  std::string name;    // "Tesla V100-SXM2-32GB"
  std::string driver;  // version of the driver, "550.54.15"
  // Cores times highest clock, comparable among GPUs of one vendor: what CUDA's FASTEST_FIRST order is guessed from.
  std::optional<double> relative_speed;

  friend bool operator==(const GpuIdentity&, const GpuIdentity&) = default;
};

// "GPU 0 (Tesla V100-SXM2-32GB)", as messages name a GPU by the number that programs know it by (inventory.hpp);
// without one, by its UUID: "GPU-8e1d7a52 (Tesla V100-SXM2-32GB)".
std::string to_text(const GpuIdentity& identity, std::optional<int> number = std::nullopt);

}  // namespace zeus::device
