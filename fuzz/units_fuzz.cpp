// Any text is a finite quantity that is not negative, or is refused with an invalid_argument Error.

#include <zeus/units.hpp>

#include <zeus/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

template <typename Parse>
void check_parse(Parse parse, std::string_view text) {
  try {
    const double value = parse(text).value();
    if (!std::isfinite(value) || value < 0.0) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int fuzz_units(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_parse(zeus::parse_watts, text);
  check_parse(zeus::parse_seconds, text);
  check_parse(zeus::parse_megahertz, text);
  return 0;
}
