#include "command_line/value_text.hpp"

#include <zeus/units.hpp>
#include "base/field_rule.hpp"
#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace zeus::command_line {

namespace {

constexpr double lowest = std::numeric_limits<double>::lowest();
constexpr double highest = std::numeric_limits<double>::max();

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  throw Error{ErrorKind::invalid_argument, fmt::format("{} is not {}", in_quotes(text), expected)};
}

template <typename Integer>
void read_integer(std::string_view text, const field::Rule& rule, Integer& value) {
  Integer number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc{} && end == text.data() + text.size() && is_within(static_cast<double>(number), rule)) {
    value = number;
    return;
  }
  const double least = std::numeric_limits<Integer>::is_signed ? lowest : 0.0;
  std::string expected = bounds_in_words("a whole number", rule, least, highest);
  if (problem == std::errc::result_out_of_range && rule.most == highest) {
    // The bound of the type itself is only mentioned to a user who exceeded it.
    expected += fmt::format(", and not above {}", std::numeric_limits<Integer>::max());
  }
  refuse(text, expected);
}

template <typename Quantity>
void check_quantity(std::string_view text, const field::Rule& rule, Quantity quantity, std::string_view what,
                    std::string_view unit) {
  if (!is_within(quantity.value(), rule)) {
    refuse(text, fmt::format("{} {}", bounds_in_words(what, rule, rule.above_least ? lowest : 0.0, highest), unit));
  }
}

}  // namespace

void read_value(std::string_view text, const field::Rule& rule, int& value) {
  read_integer(text, rule, value);
}

void read_value(std::string_view text, const field::Rule& rule, std::uint64_t& value) {
  read_integer(text, rule, value);
}

void read_value(std::string_view text, const field::Rule& rule, double& value) {
  double number = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = problem == std::errc{} && end == text.data() + text.size() && !std::isnan(number);
  if (is_number && ((std::isfinite(number) && is_within(number, rule)) ||
                    (rule.null_is_infinite && number == std::numeric_limits<double>::infinity()))) {
    value = number;
    return;
  }
  refuse(text, bounds_in_words("a number", rule, lowest, highest) + (rule.null_is_infinite ? ", or inf" : ""));
}

void read_value(std::string_view text, const field::Rule& rule, Seconds& value) {
  const Seconds time = parse_seconds(text);
  check_quantity(text, rule, time, "a time", "seconds");
  value = time;
}

void read_value(std::string_view text, const field::Rule& rule, Watts& value) {
  const Watts power = parse_watts(text);
  check_quantity(text, rule, power, "a power", "watts");
  value = power;
}

void read_value(std::string_view text, const field::Rule& /*rule*/, std::string& value) {
  value = text;
}

}  // namespace zeus::command_line
