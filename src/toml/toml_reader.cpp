#include "toml/toml_reader.hpp"

#include "base/field_rule.hpp"
#include "toml/nearest.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace zeus::toml {

namespace {

bool is_number(std::string_view text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end;
}

// The value, if it is short enough to show.
std::string shown(const TomlValue& value) {
  constexpr std::size_t longest = 60;
  if (const auto* const whole = value.as<std::int64_t>()) {
    return fmt::format("{}", *whole);
  }
  if (const auto* const number = value.as<double>()) {
    return fmt::format("{}", *number);
  }
  if (const auto* const boolean = value.as<bool>()) {
    return fmt::format("{}", *boolean);
  }
  if (const auto* const string = value.as<std::string>(); string != nullptr && string->size() <= longest) {
    return fmt::format("\"{}\"", *string);
  }
  return std::string{value.kind()};
}

constexpr double largest = std::numeric_limits<double>::max();

}  // namespace

std::string to_text(std::string_view file, TextPlace place) {
  return fmt::format("{}:{}:{}", file, place.line, place.column);
}

void TomlSpot::refuse_as(std::string_view why, std::string advice) const {
  throw Error{ErrorKind::invalid_argument, fmt::format("{}: {}", to_text(file_, value_->place()), why),
              std::move(advice)};
}

void TomlSpot::refuse(std::string_view expected, std::string advice) const {
  const auto* const string = value_->as<std::string>();
  if (advice.empty() && string != nullptr && (is_number(*string) || *string == "true" || *string == "false")) {
    advice = "leave out the quotation marks";
  }
  refuse_as(fmt::format("'{}' is {}, but must be {}", key_, shown(*value_), expected), std::move(advice));
}

TomlFields::TomlFields(const TomlSpot& table) : table_{table} {
  if (table.value().as<TomlValue::Table>() == nullptr) {
    table.refuse("a table");
  }
}

// Unknown keys come first: a misspelt key is usually the missing one.
void TomlFields::finish() const {
  for (const TomlValue::Member& member : *table_.value().as<TomlValue::Table>()) {
    if (std::ranges::find(known_, member.key) == known_.end()) {
      const std::optional<std::string> meant = nearest(member.key, known_);
      throw Error{
          ErrorKind::invalid_argument,
          fmt::format("{}: there is no key '{}'", to_text(table_.file(), member.place), member.key),
          meant ? fmt::format("did you mean '{}'?", *meant) : fmt::format("the keys are {}", fmt::join(known_, ", "))};
    }
  }
  if (!lacking_.empty()) {
    table_.refuse_as(fmt::format("the key '{}' is missing", lacking_.front()), "add it");
  }
}

bool read_boolean(const TomlSpot& spot) {
  const bool* const value = spot.value().as<bool>();
  if (value == nullptr) {
    spot.refuse("true or false");
  }
  return *value;
}

double read_number(const TomlSpot& spot, const field::Rule& rule) {
  const auto* const whole = spot.value().as<std::int64_t>();
  const auto* const fraction = spot.value().as<double>();
  if (whole != nullptr || fraction != nullptr) {
    const double number = whole != nullptr ? static_cast<double>(*whole) : *fraction;
    if (is_within(number, rule) || (rule.null_is_infinite && number == std::numeric_limits<double>::infinity())) {
      return number;
    }
  }
  spot.refuse(bounds_in_words("a number", rule, -largest, largest));
}

std::int64_t read_whole(const TomlSpot& spot, const field::Rule& rule, std::int64_t least, std::int64_t most) {
  const auto* const number = spot.value().as<std::int64_t>();
  if (number == nullptr || *number < least || *number > most || !is_within(static_cast<double>(*number), rule)) {
    spot.refuse(bounds_in_words("a whole number", rule, static_cast<double>(least), static_cast<double>(most)));
  }
  return *number;
}

const std::string& read_string(const TomlSpot& spot) {
  const auto* const string = spot.value().as<std::string>();
  if (string == nullptr) {
    spot.refuse("a string", "put it in quotation marks");
  }
  return *string;
}

const TomlValue::List& read_list(const TomlSpot& spot, std::size_t most) {
  const auto* const list = spot.value().as<TomlValue::List>();
  if (list == nullptr) {
    spot.refuse("a list", fmt::format("write [{}]", shown(spot.value())));
  }
  if (list->size() > most) {
    spot.refuse(fmt::format("a list of at most {}", most));
  }
  return *list;
}

void refuse_word(const TomlSpot& spot, const std::vector<std::string>& known) {
  const std::optional<std::string> meant = nearest(*spot.value().as<std::string>(), known);
  spot.refuse(fmt::format("one of {}", fmt::join(known, ", ")),
              meant ? fmt::format("did you mean '{}'?", *meant) : std::string{});
}

}  // namespace zeus::toml
