// Any text either is a plan with an instruction for each rank, or is refused with a corrupt_data Error.

#include "trace/plan_file.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_plan_file(const std::uint8_t* data, std::size_t size) {
  try {
    const auto ranks = zeus::trace::parse_plan_file("file", {reinterpret_cast<const char*>(data), size});
    if (ranks.empty() || ranks.front().empty()) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
