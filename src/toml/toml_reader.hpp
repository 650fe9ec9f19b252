// Reads records from TOML by their descriptions (zeus/fields.hpp), strictly. An unknown key, a wrong type, a value out
// of bounds or a missing key is an invalid_argument Error that names the file, the line and the column, and suggests
// what was most likely meant. A std::optional field may be left out. Pure functions; any thread.
#pragma once

#include "toml/toml_value.hpp"

#include <zeus/fields.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zeus::toml {

// A value in a file, for Errors. Must not outlive the file's name or the value.
class TomlSpot {
 public:
  TomlSpot(std::string_view file, std::string_view key, const TomlValue& value)
      : file_{file}, key_{key}, value_{&value} {}

  [[nodiscard]] const TomlValue& value() const { return *value_; }
  [[nodiscard]] std::string_view file() const { return file_; }
  // One element of this list.
  [[nodiscard]] TomlSpot member(const TomlValue& value) const { return {file_, key_, value}; }

  // "nightly.toml:3:7: 'eta' is a string, but must be a number from 0 to 1".
  [[noreturn]] void refuse(std::string_view expected, std::string advice = {}) const;
  // The same with the caller's own words after the place.
  [[noreturn]] void refuse_as(std::string_view why, std::string advice) const;

 private:
  std::string_view file_;
  std::string_view key_;
  const TomlValue* value_;
};

// "nightly.toml:3:7".
std::string to_text(std::string_view file, TextPlace place);

// Reads the fields of a table, one after the other; the function that describes a record takes one of these.
class TomlFields {
 public:
  explicit TomlFields(const TomlSpot& table);

  template <typename Value>
  void operator()(std::string_view name, Value& value, const field::Rule& rule = {});

  // Refuses the table if it has a key that was not asked for, or lacks a required key.
  void finish() const;

 private:
  TomlSpot table_;
  std::vector<std::string> known_;
  std::vector<std::string> lacking_;
};

// Each reads a value, or refuses its place.

bool read_boolean(const TomlSpot& spot);
double read_number(const TomlSpot& spot, const field::Rule& rule);
std::int64_t read_whole(const TomlSpot& spot, const field::Rule& rule, std::int64_t least, std::int64_t most);
const std::string& read_string(const TomlSpot& spot);
const TomlValue::List& read_list(const TomlSpot& spot, std::size_t most);
[[noreturn]] void refuse_word(const TomlSpot& spot, const std::vector<std::string>& known);

// A type with a form of its own has a function read_toml(const TomlSpot&, Value&).
template <typename Value>
void read_value(const TomlSpot& spot, Value& value, const field::Rule& rule = {}) {
  if constexpr (requires { read_toml(spot, value); }) {
    read_toml(spot, value);
  } else if constexpr (field::is_optional<Value>) {
    read_value(spot, value.emplace(), rule);
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = read_boolean(spot);
  } else if constexpr (std::integral<Value>) {
    // TOML has no whole numbers beyond these.
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    using Limits = std::numeric_limits<Value>;
    constexpr bool fits = std::in_range<std::int64_t>(Limits::max());
    value = static_cast<Value>(read_whole(spot, rule, static_cast<std::int64_t>(Limits::lowest()),
                                          fits ? static_cast<std::int64_t>(Limits::max()) : most));
  } else if constexpr (std::is_same_v<Value, double>) {
    value = read_number(spot, rule);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = read_string(spot);
  } else if constexpr (std::is_enum_v<Value>) {
    const std::optional<Value> known = field::named<Value>(read_string(spot));
    if (!known) {
      std::vector<std::string> words;
      for (const auto& one : names_of(Value{})) {
        words.emplace_back(one.name);
      }
      refuse_word(spot, words);
    }
    value = *known;
  } else if constexpr (field::Measured<Value>) {
    value = Value{read_number(spot, rule)};
  } else if constexpr (field::is_list<Value>) {
    value.clear();
    for (const TomlValue& member : read_list(spot, rule.members)) {
      read_value(spot.member(member), value.emplace_back(), rule);
    }
  } else {
    TomlFields fields{spot};  // NOLINT(misc-const-correctness): a call inside a template changes it
    Value::describe(fields, value);
    fields.finish();
  }
}

template <typename Value>
void TomlFields::operator()(std::string_view name, Value& value, const field::Rule& rule) {
  const std::string& key = known_.emplace_back(field::key_of<Value>(name, rule));
  if (const TomlValue* const member = table_.value().find(key)) {
    read_value(TomlSpot{table_.file(), key, *member}, value, rule);
  } else if (!field::is_optional<Value>) {
    lacking_.push_back(key);
  }
}

// `file` is what errors call the file.
template <typename Record>
Record record_from_toml(std::string_view text, std::string_view file) {
  const TomlValue table = TomlValue::parse(text, file);
  Record record;
  read_value(TomlSpot{file, {}, table}, record);
  return record;
}

}  // namespace zeus::toml
