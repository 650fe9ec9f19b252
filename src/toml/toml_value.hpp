// A parsed TOML document, each value with its place in the file. Plain values; copy them freely between threads. Only
// toml_value.cpp sees the TOML library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::toml {

// Both count from 1.
struct TextPlace {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class TomlValue {
 public:
  struct Member;
  using List = std::vector<TomlValue>;
  using Table = std::vector<Member>;  // in the order of the file, each key once
  struct Time {};                     // dates and times: not used yet
  using Any = std::variant<bool, std::int64_t, double, std::string, Time, List, Table>;

  TomlValue(Any value, TextPlace place);

  // If `text` is not TOML (or has a key twice), throws an invalid_argument Error that names the file, the line and the
  // column; `file` is what the Error calls the file.
  static TomlValue parse(std::string_view text, std::string_view file);

  // Null if the value is of another kind.
  template <typename Kind>
  [[nodiscard]] const Kind* as() const {
    return std::get_if<Kind>(&value_);
  }
  // The member of a table; null if this is not a table or has no such key.
  [[nodiscard]] const TomlValue* find(std::string_view key) const;
  [[nodiscard]] TextPlace place() const { return place_; }
  // "a string", "a list", for messages.
  [[nodiscard]] std::string_view kind() const;

 private:
  Any value_;
  TextPlace place_;
};

struct TomlValue::Member {
  std::string key;
  TextPlace place;  // where the key stands
  TomlValue value;
};

}  // namespace zeus::toml
