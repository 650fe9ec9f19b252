// Any text either is a measured iteration, which survives being written and read again and can be drawn, or is refused
// with a corrupt_data Error.

#include "optimize/pipeline/measured_timeline.hpp"
#include "records/measured_iteration.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_measured_iteration(const std::uint8_t* data, std::size_t size) {
  try {
    const auto iteration = zeus::records::measured_iteration_from_json({reinterpret_cast<const char*>(data), size});
    const auto timeline = zeus::optimize::pipeline::timeline_of(iteration);
    if (zeus::records::measured_iteration_from_json(to_json(iteration)) != iteration ||
        timeline.critical.size() > timeline.boxes.size()) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
