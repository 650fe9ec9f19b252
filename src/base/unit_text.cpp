#include "base/unit_text.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
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
    const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const Suffix& suffix : suffixes) {
      if (rest == suffix.text && std::isfinite(number * suffix.factor)) {
        return number * suffix.factor;
      }
    }
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("'{}' is not {}", text.substr(0, 64), expected)};
}

}  // namespace

Watts parse_watts(std::string_view text) {
  constexpr Suffix suffixes[] = {{"W", 1.0}, {"", 1.0}, {"mW", 1e-3}, {"kW", 1e3}};
  return Watts{parse_quantity(text, suffixes, "a power such as 200W, 1.5kW or 350 (watts)")};
}

Seconds parse_seconds(std::string_view text) {
  constexpr Suffix suffixes[] = {{"s", 1.0},   {"", 1.0},     {"ms", 1e-3}, {"us", 1e-6},
                                 {"ns", 1e-9}, {"min", 60.0}, {"h", 3600.0}};
  return Seconds{parse_quantity(text, suffixes, "a time such as 200ms, 1.5s, 2h or 30 (seconds)")};
}

Megahertz parse_megahertz(std::string_view text) {
  constexpr Suffix suffixes[] = {{"MHz", 1.0}, {"", 1.0}, {"kHz", 1e-3}, {"GHz", 1e3}};
  return Megahertz{parse_quantity(text, suffixes, "a clock such as 1410MHz, 1.4GHz or 1410 (megahertz)")};
}

}  // namespace zeus
