#include "backends/vendor/calls.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace zeus::backends {

unsigned whole_megahertz(Megahertz clock) {
  return static_cast<unsigned>(std::lround(std::clamp(clock.value(), 0.0, 1e6)));
}

std::string lower_case(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace zeus::backends
