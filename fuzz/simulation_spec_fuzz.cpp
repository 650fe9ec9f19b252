// Any text after --generate is a possible plan or is refused as a bad argument; any .xz bytes unpack or are refused as
// damaged.

#include "research/cluster_generator.hpp"
#include "research/xz.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_simulation_spec(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::research::ClusterPlan plan = zeus::research::parse_cluster_plan(text);
    if (plan.jobs == 0 || plan.smallest_group > plan.largest_group) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument) {
      std::abort();
    }
  }
  if (zeus::research::is_xz(text)) {
    try {
      static_cast<void>(zeus::research::unpack_xz("input", text, std::size_t{1} << 20));
    } catch (const zeus::Error& error) {
      if (error.kind() != zeus::ErrorKind::corrupt_data) {
        std::abort();
      }
    }
  }
  return 0;
}
