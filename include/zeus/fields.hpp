// A record describes its fields once. Everything that reads, writes or shows records is made from that description:
// files, stored entries, Python's values, or a format of your own.
//
//   struct Slice {
//     zeus::Watts limit;
//     std::optional<zeus::Seconds> time;
//
//     template <typename Fields, typename Self>
//     static void describe(Fields& fields, Self& self) {
//       fields("limit", self.limit, zeus::field::above_zero);
//       fields("time", self.time);
//     }
//   };
//
// `fields` is called for each field, in the order in which the fields are written, with its name, the field, and an
// optional rule. A field's unit is that of its type, and its JSON key ends with it: "limit_w", "time_s". A field that
// may be unknown is a std::optional. Constants and pure functions; any thread.
#pragma once

#include <zeus/units.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace zeus {

struct Energy;

namespace field {

// What is required of a field beyond its type. Numbers must be finite.
struct Rule {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
  bool above_least = false;       // `least` itself is out of bounds
  std::size_t members = 4096;     // the most that a list may have; the bounds above apply to each
  std::size_t fewest = 0;         // that a list may have
  bool unit_in_key = true;        // false if the record's own name implies the unit: an energy's "value"
  bool left_out = false;          // an unknown value or empty string has no key; otherwise it is null
  bool null_is_infinite = false;  // JSON has no infinity
  std::optional<std::string_view> reason = std::nullopt;  // why it is unknown, for documents that have to say so
  std::string* read_reason = nullptr;                     // receives the reason that a document gives
};

inline constexpr Rule from_zero{.least = 0.0};
inline constexpr Rule above_zero{.least = 0.0, .above_least = true};
inline constexpr Rule from_one{.least = 1.0};
inline constexpr Rule share{.least = 0.0, .most = 1.0};

// The ranges of the numbers that come in with reports, definitions and files. Each is far beyond any real value, and so
// bounded that sums over a long history, their squares, products and quotients stay finite:
inline constexpr double most_joules = 1e18;   // 1 GW for 30 years
inline constexpr double most_seconds = 1e10;  // 300 years
inline constexpr double most_watts = 1e12;    // a third of the electricity that the world uses
inline constexpr double least_part = 1e-9;    // of a joule, a second or a watt: no device measures less
inline constexpr double most_counted = 1e9;   // of epochs, batch sizes and tries: one more is still an int
inline constexpr double most_factor = 1e30;   // of what weighs a cost
inline constexpr double last_microsecond = 253'402'300'799'999'968.0;  // of the year 9999, since 1970

inline constexpr Rule any_energy{.least = -most_joules, .most = most_joules};
inline constexpr Rule energy{.least = 0.0, .most = most_joules};
inline constexpr Rule energy_above_zero{.least = least_part, .most = most_joules};
inline constexpr Rule duration{.least = 0.0, .most = most_seconds};
inline constexpr Rule duration_above_zero{.least = least_part, .most = most_seconds};
inline constexpr Rule power{.least = 0.0, .most = most_watts};
inline constexpr Rule power_above_zero{.least = least_part, .most = most_watts};
inline constexpr Rule count{.least = 0.0, .most = most_counted};
inline constexpr Rule count_from_one{.least = 1.0, .most = most_counted};
inline constexpr Rule point_in_time{.least = 0.0, .most = last_microsecond};

// The same rule for a field that may lack its key, or whose key has no unit.
constexpr Rule may_lack(Rule rule) {
  rule.left_out = true;
  return rule;
}
constexpr Rule without_unit(Rule rule) {
  rule.unit_in_key = false;
  return rule;
}

constexpr Rule because(std::string_view reason) {
  return {.reason = reason};
}
// For a record that may also be read: reading stores the reason there.
inline Rule because(std::string& reason) {
  return {.reason = reason, .read_reason = &reason};
}

// In place of a rule: in a file, the fields of this record stand beside those of the record around it.
struct Beside {};
inline constexpr Beside beside{};

// The name of an enumerator. An enum that is used as a field has a function names_of(E) in its own namespace, which
// returns an array of these.
template <typename Enum>
struct Name {
  Enum value = {};
  std::string_view name = {};
};

template <typename Enum>
  requires std::is_enum_v<Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& known : names_of(Enum{})) {
    if (known.value == value) {
      return known.name;
    }
  }
  return "unknown";
}

template <typename Enum>
  requires std::is_enum_v<Enum>
constexpr std::optional<Enum> named(std::string_view name) {
  for (const auto& known : names_of(Enum{})) {
    if (known.name == name) {
      return known.value;
    }
  }
  return std::nullopt;
}

// The end of the key of a field of this type.
template <typename Value>
inline constexpr std::string_view unit_of{};
template <>
inline constexpr std::string_view unit_of<Joules>{"_j"};
template <>
inline constexpr std::string_view unit_of<Energy>{"_j"};
template <>
inline constexpr std::string_view unit_of<Watts>{"_w"};
template <>
inline constexpr std::string_view unit_of<Seconds>{"_s"};
template <>
inline constexpr std::string_view unit_of<Megahertz>{"_mhz"};
template <>
inline constexpr std::string_view unit_of<Celsius>{"_c"};
template <typename Value>
inline constexpr std::string_view unit_of<std::optional<Value>> = unit_of<Value>;
template <typename Value>
inline constexpr std::string_view unit_of<std::vector<Value>> = unit_of<Value>;

template <typename Value>
std::string key_of(std::string_view name, const Rule& rule = {}) {
  std::string key{name};
  return rule.unit_in_key ? key.append(unit_of<Value>) : key;
}

template <typename Record>
concept Described = requires(int& fields, const Record& record) { Record::describe(fields, record); };

// A variant of records, each with its `kind`, which is written as a field of that name before the record's own fields.
template <typename Value>
inline constexpr bool is_variant = false;
template <typename... Records>
inline constexpr bool is_variant<std::variant<Records...>> = true;

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

template <typename Value>
inline constexpr bool is_list = false;
template <typename Value>
inline constexpr bool is_list<std::vector<Value>> = true;

// A number with a unit.
template <typename Value>
concept Measured = !is_optional<Value> && std::is_constructible_v<Value, double> && requires(const Value& value) {
  { value.value() } -> std::same_as<double>;
};

}  // namespace field
}  // namespace zeus
