// A TOML document that was read, each value with the place where it stands. Plain values; copy them freely between
// threads. The TOML library is behind toml_value.cpp and seen by nobody else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::toml {

// Both from 1.
struct TextPlace {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class TomlValue {
 public:
  struct Member;
  using List = std::vector<TomlValue>;
  using Table = std::vector<Member>;  // in the order of the text, each key once
  struct Time {};                     // dates and times: of no use here yet
  using Any = std::variant<bool, std::int64_t, double, std::string, Time, List, Table>;

  TomlValue(Any value, TextPlace place);

  // What is no TOML (a key that is given twice included) is an invalid_argument Error that names the file, the line and
  // the column; `file` is what the text is called.
  static TomlValue parse(std::string_view text, std::string_view file);

  // Nothing where it is something else.
  template <typename Kind>
  [[nodiscard]] const Kind* as() const {
    return std::get_if<Kind>(&value_);
  }
  // The member of a table; none where this is no table or has no such key.
  [[nodiscard]] const TomlValue* find(std::string_view key) const;
  [[nodiscard]] TextPlace place() const { return place_; }
  // "a string", "a list", for people.
  [[nodiscard]] std::string_view kind() const;

 private:
  Any value_;
  TextPlace place_;
};

struct TomlValue::Member {
  std::string key;
  TextPlace place;  // of the key
  TomlValue value;
};

}  // namespace zeus::toml
