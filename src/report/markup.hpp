// Text that goes into HTML and SVG. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace zeus::report {

// The text as content or attribute value: &, <, >, quotes and control characters do no harm.
std::string escaped(std::string_view text);

// A coordinate: at most two decimals, no exponent.
std::string coordinate(double value);

// A number for people: about four significant digits.
std::string readable(double value);

}  // namespace zeus::report
