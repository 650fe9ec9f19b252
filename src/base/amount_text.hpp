// Energies and times as people read them, the same way wherever they are shown: "63.0 J", "1.56 kJ", "264.1 ± 2.6 kJ",
// "8.2 s", "1 min 12 s". (zeus/units.hpp reads what people write.) Pure functions and plain values; any thread.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus {

struct Unit {
  double size = 1.0;  // in the unit of zeus/units.hpp
  std::string_view name;

  [[nodiscard]] double of(Joules energy) const { return energy.value() / size; }
  [[nodiscard]] double of(Seconds time) const { return time.value() / size; }
};

// The decimals needed to show `digits` significant digits of this number, but not more than `most`; none for 0.
int decimals_for(double number, int digits, int most = 3);

// One unit for a whole chart or column: the one in which `largest` has one to three digits before the point. For times,
// the largest unit that fits at least twice.
Unit unit_for(Joules largest);
Unit unit_for(Seconds largest);

// A column of energies, all in the unit of the largest, or in a smaller one if the narrowest interval needs it to be
// seen within three decimals. Values with an interval keep the decimals that it leaves certain: two digits of the
// half-width. Values without one get enough decimals for `digits` digits of the largest (three by default) and two of
// the smallest.
class EnergyColumn {
 public:
  explicit EnergyColumn(int digits = 3) : digits_{digits} {}

  void fit(Joules energy);
  void fit(const std::optional<Joules>& energy);
  void fit(Joules energy, const std::optional<Joules>& half_width);

  [[nodiscard]] std::string text(Joules energy) const;
  [[nodiscard]] std::string text(Joules energy, const std::optional<Joules>& half_width) const;
  // "265 to 285 kJ"
  [[nodiscard]] std::string range(Joules low, Joules high) const;

 private:
  [[nodiscard]] Unit common_unit() const;

  int digits_;
  Joules largest_;
  std::optional<Joules> smallest_;
  std::optional<Joules> narrowest_;  // half-width
};

// The value with as many decimals as two digits of the half-width need, at most three: "1,234.56" with 0.13. Two
// decimals if the half-width is 0.
std::string certain_digits(double value, double half_width);
// "2,500.0 ± 1.3 J", with as many decimals as two digits of the half-width need; without the interval if it is 0.
std::string with_interval(double value, double half_width, std::string_view unit);

// Each in the unit that suits it.
std::string to_text(Joules energy);
std::string to_text(Joules energy, const std::optional<Joules>& half_width);

// "0.31 s", "8.2 s", "1 min 12 s", "3 h 40 min", "2 d 4 h".
std::string to_text(Seconds time);
// "1.9 ± 7.5 min"; without a half-width, as above.
std::string to_text(Seconds time, const std::optional<Seconds>& half_width);

}  // namespace zeus
