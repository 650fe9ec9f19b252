// Any file either is a list of faults of GPUs that exist, or is refused with an invalid_argument Error that names a
// line.

#include "drivers/session/fault.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_fault(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t gpus = 2;
  try {
    for (const auto& fault : zeus::drivers::parse_faults({reinterpret_cast<const char*>(data), size}, gpus)) {
      const bool exists = fault.gpu == zeus::drivers::Fault::every_gpu || fault.gpu < gpus;
      if (!exists || fault.calls.back() != '\0' || fault.from < zeus::Seconds{0}) {
        std::abort();
      }
      (void)fault.matches("nvmlDeviceGetPowerUsage");
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument || !error.message().starts_with("line ")) {
      std::abort();
    }
  }
  return 0;
}
