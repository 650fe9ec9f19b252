// Any file either is a table of ascending times and bounded powers, or is refused with an invalid_argument Error.

#include "drivers/session/load_text.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_power_table(const std::uint8_t* data, std::size_t size) {
  try {
    const auto points = zeus::drivers::parse_power_table({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    zeus::Seconds last{-1};
    for (const auto& point : points) {
      if (!(point.after > last) || !(point.demand.power >= zeus::Watts{0}) || point.demand.power > zeus::Watts{1e5}) {
        std::abort();
      }
      last = point.after;
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument) {
      std::abort();
    }
  }
  return 0;
}
