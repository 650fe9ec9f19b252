// Clock domains of a GPU and what they are doing. Plain values.
#pragma once

#include "device/reading.hpp"

#include <zeus/units.hpp>

#include <string_view>

namespace zeus::device {

enum class ClockDomain { graphics, sm, memory };

std::string_view to_string(ClockDomain domain);

// Each may be missing by itself.
struct Clocks {
  Reading<Megahertz> graphics;
  Reading<Megahertz> sm;
  Reading<Megahertz> memory;
  Reading<Megahertz> maximum_graphics;
  Reading<Megahertz> maximum_memory;
};

// The clocks of one domain are kept between the two; equal when they are locked to one.
struct ClockRange {
  Megahertz minimum;
  Megahertz maximum;

  friend bool operator==(const ClockRange&, const ClockRange&) = default;
};

}  // namespace zeus::device
