#include "device/clocks.hpp"

namespace zeus::device {

std::string_view to_string(ClockDomain domain) {
  return field::name_of(domain);
}

}  // namespace zeus::device
