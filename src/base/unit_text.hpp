// Quantities as people write them on a command line: "200W", "1.5kW", "200ms", "2h", "1410MHz".
// Pure functions. What cannot be read is an invalid_argument Error that names the text and what was expected.
#pragma once

#include <zeus/units.hpp>

#include <string_view>

namespace zeus {

// Watts: W, mW, kW; a bare number is watts. Finite and not negative.
Watts parse_watts(std::string_view text);
// Seconds: s, ms, us, ns, min, h; a bare number is seconds. Finite and not negative.
Seconds parse_seconds(std::string_view text);
// Clocks: MHz, kHz, GHz; a bare number is megahertz. Finite and not negative.
Megahertz parse_megahertz(std::string_view text);

}  // namespace zeus
