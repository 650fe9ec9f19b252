// Clock domains of a GPU and what they are doing. Plain values.
#pragma once

#include "device/reading.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <string_view>

namespace zeus::device {

enum class ClockDomain { graphics, sm, memory };

constexpr auto names_of(ClockDomain /*domain*/) {
  return std::array<field::Name<ClockDomain>, 3>{
      {{ClockDomain::graphics, "graphics"}, {ClockDomain::sm, "sm"}, {ClockDomain::memory, "memory"}}};
}

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

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("minimum", self.minimum, field::above_zero);
    fields("maximum", self.maximum, field::above_zero);
  }
  friend bool operator==(const ClockRange&, const ClockRange&) = default;
};

}  // namespace zeus::device
