// Any text is an address or is not; an address, written out, reads as itself.

#include "device/pci_address.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_pci_address(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto address = zeus::device::parse_pci_address(text)) {
    if (zeus::device::parse_pci_address(zeus::device::to_string(*address)) != address) {
      std::abort();
    }
  }
  return 0;
}
