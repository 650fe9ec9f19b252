// Any text either is such a trace or is refused with a corrupt_data Error that names the file.

#include "research/cluster_trace.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_cluster_trace(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    static_cast<void>(zeus::research::parse_cluster_trace("input", text));
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data || !std::string_view{error.what()}.starts_with("input:")) {
      std::abort();
    }
  }
  return 0;
}
