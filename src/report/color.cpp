#include "report/color.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace zeus::report {

namespace {

// Evenly spaced in lightness.
constexpr std::array stops{
    Color{62, 45, 120},  Color{53, 94, 141},  Color{35, 139, 139},
    Color{82, 184, 110}, Color{183, 217, 66}, Color{250, 224, 50},
};

int between(int from, int to, double share) {
  return static_cast<int>(std::lround(from + (to - from) * share));
}

}  // namespace

Color heat(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double rest = place - static_cast<double>(lower);
  return {between(stops[lower].red, stops[lower + 1].red, rest),
          between(stops[lower].green, stops[lower + 1].green, rest),
          between(stops[lower].blue, stops[lower + 1].blue, rest)};
}

std::string ink_on(const Color& ground) {
  const double lightness = 0.299 * ground.red + 0.587 * ground.green + 0.114 * ground.blue;
  return lightness > 140 ? "#111" : "#fff";
}

std::string to_css(const Color& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

}  // namespace zeus::report
