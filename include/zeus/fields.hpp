// How a record says what it consists of, once. Whatever reads, writes or shows records is made from that: files, stored
// entries, Python's values, or a form of your own.
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
// `fields` is an object that is called with the name of each field, the field, and perhaps a rule, in the order in
// which they are written. A field's unit is that of its type, and its key in JSON ends in it: "limit_w", "time_s". A
// field that may be unknown is a std::optional. Constants and pure functions; any thread.
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

// What holds of a field beside its type. Numbers are finite.
struct Rule {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
  bool above_least = false;       // `least` itself is out of bounds
  std::size_t members = 4096;     // of a list, at most; the bounds above hold for each
  bool unit_in_key = true;        // false where the record's own name has it: an energy's "value"
  bool left_out = false;          // while it is unknown, or an empty text, there is no such key; otherwise it is null
  bool null_is_infinite = false;  // JSON has no infinity
  std::optional<std::string_view> reason = std::nullopt;  // why it is unknown, where a document has to say so
  std::string* read_reason = nullptr;                     // where what a document says of that goes
};

inline constexpr Rule from_zero{.least = 0.0};
inline constexpr Rule above_zero{.least = 0.0, .above_least = true};
inline constexpr Rule from_one{.least = 1.0};
inline constexpr Rule share{.least = 0.0, .most = 1.0};

constexpr Rule because(std::string_view reason) {
  return {.reason = reason};
}
// Of a record that may be read as well, which keeps the reason.
inline Rule because(std::string& reason) {
  return {.reason = reason, .read_reason = &reason};
}

// In the place of a rule: the fields of this record stand beside those around it where it is written to a file.
struct Beside {};
inline constexpr Beside beside{};

// A name of an enum's value. An enum that is a field has a function names_of(E) in its own namespace, which returns an
// array of these.
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

// What ends the key of a field of this type.
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

// One of several records, each with its `kind`: written as a field of that name before the record's own.
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
