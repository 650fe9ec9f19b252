// Any text either names 1 to 64 GPUs, or is refused with an invalid_argument Error that says what to do.

#include "drivers/session/gpu_spec.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_gpu_spec(const std::uint8_t* data, std::size_t size) {
  try {
    const auto gpus = zeus::drivers::parse_gpus({reinterpret_cast<const char*>(data), size});
    if (gpus.empty() || gpus.size() > zeus::drivers::most_gpus) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument || error.advice().empty()) {
      std::abort();
    }
  }
  return 0;
}
