// Strings for HTML and SVG. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace zeus::report {

// The string as content or as an attribute's value: escapes &, <, > and quotes, and replaces control characters.
std::string escaped(std::string_view text);

// A coordinate: at most two decimals, no exponent.
std::string coordinate(double value);

// A number for people: about four significant digits.
std::string readable(double value);

}  // namespace zeus::report
