// Where a device sits on the PCI bus: the name of a device that NVML, AMD SMI, CUDA and the kernel share.
// A plain value; ordered as CUDA_DEVICE_ORDER=PCI_BUS_ID orders.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::device {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t function = 0;

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// "0000:3b:00.0", as the kernel writes it.
std::string to_string(const PciAddress& address);

// Reads what drivers and people write: hexadecimal, upper or lower case, the domain with any number of digits or left
// out, the function left out. Nothing if `text` is not an address.
std::optional<PciAddress> parse_pci_address(std::string_view text);

}  // namespace zeus::device
