#include "report/quantity.hpp"

#include "report/markup.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace zeus::report {

namespace {

constexpr std::array<Unit, 5> energies{{{1.0, "J"}, {1e3, "kJ"}, {1e6, "MJ"}, {1e9, "GJ"}, {1e12, "TJ"}}};
constexpr std::array<Unit, 4> times{{{1.0, "s"}, {60.0, "min"}, {3600.0, "h"}, {86400.0, "d"}}};

// The largest unit of which there are at least two.
Unit fitting(std::span<const Unit> units, double largest) {
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (std::abs(largest) >= 2.0 * unit.size) {
      chosen = unit;
    }
  }
  return chosen;
}

}  // namespace

Unit unit_for(Joules largest) {
  return fitting(energies, largest.value());
}

Unit unit_for(Seconds largest) {
  return fitting(times, largest.value());
}

std::string readable(Joules energy) {
  const Unit unit = unit_for(energy);
  return fmt::format("{} {}", readable(unit.of(energy)), unit.name);
}

std::string readable(Seconds time) {
  const Unit unit = unit_for(time);
  return fmt::format("{} {}", readable(unit.of(time)), unit.name);
}

}  // namespace zeus::report
