// Any text either is a frequency plan, which survives being written and read again, or is refused with a corrupt_data
// Error.

#include "records/pipeline_plan.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_pipeline_plan(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const auto plan = zeus::records::pipeline_plan_from_json(text);
    if (zeus::records::pipeline_plan_from_json(to_json(plan)) != plan) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
