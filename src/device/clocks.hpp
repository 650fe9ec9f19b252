// What the clocks of a GPU are doing. Plain values.
#pragma once

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

namespace zeus::device {

// Any of them may be missing.
struct Clocks {
  Reading<Megahertz> graphics;
  Reading<Megahertz> sm;
  Reading<Megahertz> memory;
  Reading<Megahertz> maximum_graphics;
  Reading<Megahertz> maximum_memory;
};

}  // namespace zeus::device
