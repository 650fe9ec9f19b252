// The identity of a GPU: what stays the same from discovery until the GPU is taken out of the machine. A plain value.
#pragma once

#include "device/pci_address.hpp"

#include <zeus/device_values.hpp>

#include <optional>
#include <string>

namespace zeus::device {

struct GpuIdentity {
  GpuVendor vendor = GpuVendor::nvidia;
  // The name of a GPU in leases and records: for NVIDIA "GPU-" and a UUID in lower case; for others the ID that the
  // driver gives.
  std::string uuid;
  PciAddress pci;
  // Position in the driver's own order, which is that of nvidia-smi, or of HIP.
  int index = 0;
  std::string name;    // "Tesla V100-SXM2-32GB"
  std::string driver;  // version of the driver, "550.54.15"
  // Cores times highest clock, comparable among GPUs of one vendor; CUDA's FASTEST_FIRST order is guessed from it.
  std::optional<double> relative_speed;

  friend bool operator==(const GpuIdentity&, const GpuIdentity&) = default;
};

// "GPU 0 (Tesla V100-SXM2-32GB)": messages name a GPU by the number that programs know it by (inventory.hpp). Without a
// number, by its UUID: "GPU-8e1d7a52 (Tesla V100-SXM2-32GB)".
std::string to_text(const GpuIdentity& identity, std::optional<int> number = std::nullopt);

}  // namespace zeus::device
