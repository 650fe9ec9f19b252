// The identity of a GPU: what does not change until the GPU is removed from the machine. A plain value.
#pragma once

#include "device/pci_address.hpp"

#include <zeus/device_values.hpp>

#include <optional>
#include <string>

namespace zeus::device {

struct GpuIdentity {
  GpuVendor vendor = GpuVendor::nvidia;
  // Names the GPU in leases and records. For NVIDIA it is "GPU-" and a UUID in lower case; for other vendors, the ID
  // that the driver reports.
  std::string uuid;
  PciAddress pci;
  // Position in the driver's own order, which nvidia-smi or HIP also uses.
  int index = 0;
  std::string name;    // "Tesla V100-SXM2-32GB"
  std::string driver;  // the driver's version, "550.54.15"
  // Cores times the highest clock. It compares GPUs of one vendor, and approximates the order of CUDA's FASTEST_FIRST.
  std::optional<double> relative_speed;

  friend bool operator==(const GpuIdentity&, const GpuIdentity&) = default;
};

// "GPU 0 (Tesla V100-SXM2-32GB)": messages use the number by which programs know a GPU (inventory.hpp). Without a
// number they use its UUID: "GPU-8e1d7a52 (Tesla V100-SXM2-32GB)".
std::string to_text(const GpuIdentity& identity, std::optional<int> number = std::nullopt);

}  // namespace zeus::device
