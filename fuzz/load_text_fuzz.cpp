// Any text either is a load of bounded powers and times, or is refused with an invalid_argument Error.

#include "drivers/session/load_text.hpp"
#include "fuzz/require.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using zeus::fuzz::require;

bool is_sane_power(zeus::Watts power) {
  return power >= zeus::Watts{0} && power <= zeus::Watts{1e5};
}

}  // namespace

extern "C" int fuzz_load_text(const std::uint8_t* data, std::size_t size) {
  try {
    const auto load = zeus::drivers::parse_load({reinterpret_cast<const char*>(data), size});
    if (const auto* const constant = std::get_if<zeus::drivers::ConstantLoad>(&load)) {
      require(is_sane_power(constant->power));
    }
    if (const auto* const square = std::get_if<zeus::drivers::SquareLoad>(&load)) {
      require(is_sane_power(square->low) && is_sane_power(square->high) && square->low <= square->high);
      require(square->period >= zeus::Seconds{1e-3} && square->period <= zeus::Seconds{86'400});
    }
    if (const auto* const work = std::get_if<zeus::drivers::WorkLoad>(&load)) {
      require(work->busy >= 0 && work->busy <= 1 && work->activity >= 0 && work->activity <= 1);
      require(work->memory >= 0 && work->memory <= 1);
    }
  } catch (const zeus::Error& error) {
    require(error.kind() == zeus::ErrorKind::invalid_argument);
  }
  return 0;
}
