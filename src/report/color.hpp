// Colours for quantities, readable on light and dark backgrounds and without distinguishing red from green. Pure
// functions.
#pragma once

#include <string>

namespace zeus::report {

struct Color {
  int red = 0;
  int green = 0;
  int blue = 0;
};

// From dark blue for 0 through teal to yellow for 1; values outside are clamped.
Color heat(double share);
// Black or white, whichever is easier to read on this background.
std::string ink_on(const Color& ground);
std::string to_css(const Color& color);

}  // namespace zeus::report
