#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ostream>
#include <span>
#include <string>
#include <system_error>

namespace zeus {

namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

double parse_quantity(std::string_view text, std::span<const Suffix> suffixes, std::string_view expected) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && std::isfinite(number) && number >= 0.0) {
    std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    if (rest.size() > 1 && rest.front() == ' ') {
      rest.remove_prefix(1);
    }
    for (const Suffix& suffix : suffixes) {
      if (rest == suffix.text && std::isfinite(number * suffix.factor)) {
        return number * suffix.factor;
      }
    }
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("'{}' is not {}", text.substr(0, 64), expected)};
}

}  // namespace

Joules parse_joules(std::string_view string) {
  constexpr Suffix suffixes[] = {{"J", 1.0},  {"", 1.0},      {"mJ", 1e-3},  {"kJ", 1e3},
                                 {"MJ", 1e6}, {"Wh", 3600.0}, {"kWh", 3.6e6}};
  return Joules{parse_quantity(string, suffixes, "an energy such as 200J, 1.5kWh or 350 (joules)")};
}

Watts parse_watts(std::string_view string) {
  constexpr Suffix suffixes[] = {{"W", 1.0}, {"", 1.0}, {"mW", 1e-3}, {"kW", 1e3}};
  return Watts{parse_quantity(string, suffixes, "a power such as 200W, 1.5kW or 350 (watts)")};
}

Seconds parse_seconds(std::string_view string) {
  constexpr Suffix suffixes[] = {{"s", 1.0},   {"", 1.0},     {"ms", 1e-3}, {"us", 1e-6},
                                 {"ns", 1e-9}, {"min", 60.0}, {"h", 3600.0}};
  return Seconds{parse_quantity(string, suffixes, "a time such as 200ms, 1.5s, 2h or 30 (seconds)")};
}

Megahertz parse_megahertz(std::string_view string) {
  constexpr Suffix suffixes[] = {{"MHz", 1.0}, {"", 1.0}, {"kHz", 1e-3}, {"GHz", 1e3}};
  return Megahertz{parse_quantity(string, suffixes, "a clock such as 1410MHz, 1.4GHz or 1410 (megahertz)")};
}

std::ostream& detail::print(std::ostream& stream, double number, std::string_view symbol) {
  return stream << number << ' ' << symbol;
}

}  // namespace zeus
