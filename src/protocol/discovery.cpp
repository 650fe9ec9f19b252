#include "protocol/discovery.hpp"

namespace zeus::protocol {

std::string_view vendor_word(GpuVendor vendor) {
  return vendor == GpuVendor::amd ? "amd" : "nvidia";
}

std::optional<GpuVendor> vendor_of(std::string_view word) {
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd}) {
    if (word == vendor_word(vendor)) {
      return vendor;
    }
  }
  return std::nullopt;
}

}  // namespace zeus::protocol
