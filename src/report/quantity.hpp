// The unit in which people like to read an amount: kilojoules or megajoules, minutes or hours. Pure functions; any
// thread.
#pragma once

#include <zeus/units.hpp>

#include <string>
#include <string_view>

namespace zeus::report {

struct Unit {
  double size = 1.0;  // in the unit of zeus/units.hpp
  std::string_view name;

  [[nodiscard]] double of(Joules energy) const { return energy.value() / size; }
  [[nodiscard]] double of(Seconds time) const { return time.value() / size; }
};

// One in which `largest` has one to four digits before the point; for a whole chart or column.
Unit unit_for(Joules largest);
Unit unit_for(Seconds largest);

// "12.3 kJ", "4.56 h"; each in its own unit.
std::string readable(Joules energy);
std::string readable(Seconds time);

}  // namespace zeus::report
