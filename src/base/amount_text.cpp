#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace zeus {

namespace {

constexpr std::array<Unit, 5> energies{{{1.0, "J"}, {1e3, "kJ"}, {1e6, "MJ"}, {1e9, "GJ"}, {1e12, "TJ"}}};
constexpr std::array<Unit, 4> times{{{1.0, "s"}, {60.0, "min"}, {3600.0, "h"}, {86400.0, "d"}}};

constexpr int usual_decimals = 3;
// Narrower intervals come from rounding alone.
constexpr double narrowest_interval = 1e-9;
constexpr int decimals_of_narrowest = 10;

int decimals_of_interval(double half_width) {
  return decimals_for(half_width, 2, decimals_of_narrowest);
}

// The largest unit that gives at least `at_least` of itself, and in which the usual decimals show the half-width.
Unit fitting(std::span<const Unit> units, double amount, double at_least, double half_width = 0.0) {
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (std::abs(amount) >= at_least * unit.size && decimals_of_interval(half_width / unit.size) <= usual_decimals) {
      chosen = unit;
    }
  }
  return chosen;
}

// "1,234,567.89": a comma between every three digits before the point.
std::string grouped(std::string_view digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool after_a_digit = i > 0 && digits[i - 1] != '-';
    text += after_a_digit && i < point && (point - i) % 3 == 0 ? "," : "";
    text += digits[i];
  }
  return text;
}

// "3 h 40 min": a count of small units, `size` of which make one large unit.
std::string in_two(std::int64_t small, std::int64_t size, std::string_view large_name, std::string_view small_name) {
  return small % size == 0 ? fmt::format("{} {}", small / size, large_name)
                           : fmt::format("{} {} {} {}", small / size, large_name, small % size, small_name);
}

std::string positive_text(double seconds) {
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 60 * minute;
  constexpr std::int64_t day = 24 * hour;
  constexpr double longest = 1e12;
  if (seconds < 59.95 || !(seconds < longest)) {
    return fmt::format("{:.{}f} s", seconds, seconds < 1.0 ? decimals_for(seconds, 2) : 1);
  }
  // Rounded first to what is shown, so that it never prints "60 s" or "60 min".
  if (const std::int64_t whole = std::llround(seconds); whole < hour) {
    return in_two(whole, minute, "min", "s");
  }
  if (const std::int64_t minutes = std::llround(seconds / minute); minutes * minute < 2 * day) {
    return in_two(minutes, hour / minute, "h", "min");
  }
  return in_two(std::llround(seconds / hour), day / hour, "d", "h");
}

}  // namespace

int decimals_for(double number, int digits, int most) {
  const double size = std::abs(number);
  return size > 0.0 && std::isfinite(size)
             ? std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0, most)
             : 0;
}

Unit unit_for(Joules largest) {
  return fitting(energies, largest.value(), 1.0);
}

Unit unit_for(Seconds largest) {
  return fitting(times, largest.value(), 2.0);
}

void EnergyColumn::fit(Joules energy) {
  const Joules size{std::abs(energy.value())};
  largest_ = std::max(largest_, size);
  if (size > Joules{}) {
    smallest_ = std::min(smallest_.value_or(size), size);
  }
}

void EnergyColumn::fit(const std::optional<Joules>& energy) {
  if (energy) {
    fit(*energy);
  }
}

void EnergyColumn::fit(Joules energy, const std::optional<Joules>& half_width) {
  fit(energy);
  if (half_width > Joules{narrowest_interval}) {
    largest_ = std::max(largest_, *half_width);
    narrowest_ = std::min(narrowest_.value_or(*half_width), *half_width);
  }
}

Unit EnergyColumn::common_unit() const {
  return fitting(energies, largest_.value(), 1.0, narrowest_.value_or(Joules{}).value());
}

std::string EnergyColumn::text(Joules energy) const {
  const Unit unit = common_unit();
  const int decimals =
      std::max(decimals_for(unit.of(largest_), digits_), decimals_for(unit.of(smallest_.value_or(Joules{})), 2));
  return fmt::format("{} {}", grouped(fmt::format("{:.{}f}", unit.of(energy), decimals)), unit.name);
}

std::string EnergyColumn::text(Joules energy, const std::optional<Joules>& half_width) const {
  const Unit unit = common_unit();
  return half_width ? with_interval(unit.of(energy), unit.of(*half_width), unit.name) : text(energy);
}

std::string EnergyColumn::range(Joules low, Joules high) const {
  const Unit unit = common_unit();
  const int decimals = decimals_of_interval(unit.of(high - low));
  const auto text = [&](Joules energy) { return grouped(fmt::format("{:.{}f}", unit.of(energy), decimals)); };
  return fmt::format("{} to {} {}", text(low), text(high), unit.name);
}

std::string certain_digits(double value, double half_width) {
  return grouped(fmt::format("{:.{}f}", value, half_width > 0.0 ? decimals_for(half_width, 2) : 2));
}

std::string with_interval(double value, double half_width, std::string_view unit) {
  if (half_width < narrowest_interval) {
    return fmt::format("{} {}", certain_digits(value, 0.0), unit);
  }
  const int decimals = decimals_of_interval(half_width);
  const auto text = [&](double number) { return grouped(fmt::format("{:.{}f}", number, decimals)); };
  return fmt::format("{} \u00b1 {} {}", text(value), text(half_width), unit);
}

std::string to_text(Joules energy) {
  return to_text(energy, std::nullopt);
}

std::string to_text(Joules energy, const std::optional<Joules>& half_width) {
  EnergyColumn alone;
  alone.fit(energy, half_width);
  return alone.text(energy, half_width);
}

std::string to_text(Seconds time) {
  return (time < Seconds{} ? "-" : "") + positive_text(std::abs(time.value()));
}

std::string to_text(Seconds time, const std::optional<Seconds>& half_width) {
  if (!half_width) {
    return to_text(time);
  }
  const double shown = half_width->value() < narrowest_interval ? 0.0 : half_width->value();
  const Unit unit = fitting(times, std::max(std::abs(time.value()), shown), 2.0, shown);
  return with_interval(unit.of(time), unit.of(*half_width), unit.name);
}

}  // namespace zeus
