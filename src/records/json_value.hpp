// A JSON document that was read. Plain values; copy them freely between threads. The JSON library is behind
// json_value.cpp and seen by nobody else.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::records {

class JsonValue {
 public:
  struct Member;
  using List = std::vector<JsonValue>;
  using Object = std::vector<Member>;  // ascending by key, each key once
  using Any = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;

  JsonValue() = default;  // null
  explicit JsonValue(Any value);

  // Nothing where the text is no JSON, has a number beyond what a double can be, or nests more than 64 values into one
  // another. Of a key that an object has twice, the last one counts.
  static std::optional<JsonValue> parse(std::string_view text);

  // What it is, or nothing where it is something else.
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<double> number() const;  // finite
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&value_); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&value_); }
  [[nodiscard]] const Object* object() const { return std::get_if<Object>(&value_); }
  // A number that is written without a fraction or an exponent and fits.
  template <std::integral Integer>
  [[nodiscard]] std::optional<Integer> whole() const {
    if (const auto* number = std::get_if<std::uint64_t>(&value_); number && std::in_range<Integer>(*number)) {
      return static_cast<Integer>(*number);
    }
    if (const auto* number = std::get_if<std::int64_t>(&value_); number && std::in_range<Integer>(*number)) {
      return static_cast<Integer>(*number);
    }
    return std::nullopt;
  }

  // The member of an object; none where this is no object or has no such key.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;

  // What must be there: a not_found Error where it is not.
  [[nodiscard]] const JsonValue& operator[](std::string_view key) const;
  [[nodiscard]] const JsonValue& operator[](std::size_t index) const;
  [[nodiscard]] std::size_t size() const;  // of a list or an object

  friend bool operator==(const JsonValue& a, const JsonValue& b);

 private:
  Any value_;
};

struct JsonValue::Member {
  std::string key;
  JsonValue value;

  friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace zeus::records
