#include "device/clocks.hpp"

namespace zeus::device {

std::string_view to_string(ClockDomain domain) {
  switch (domain) {
    case ClockDomain::graphics:
      return "graphics";
    case ClockDomain::sm:
      return "sm";
    case ClockDomain::memory:
      break;
  }
  return "memory";
}

}  // namespace zeus::device
