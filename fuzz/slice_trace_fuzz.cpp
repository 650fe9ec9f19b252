// Any text either is such a trace or is refused with a corrupt_data Error that names the file.

#include "research/slice_trace.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_slice_trace(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::research::SliceTrace trace = zeus::research::parse_slice_trace("input", text);
    if (trace.slices.empty() || trace.slices.front().empty()) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data || !std::string_view{error.what()}.starts_with("input:")) {
      std::abort();
    }
  }
  return 0;
}
