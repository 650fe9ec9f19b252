// A parsed JSON document. Plain values; copy them freely between threads. Only json_library.cpp sees the JSON library.
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
  using Object = std::vector<Member>;  // ascending by key; of a key that is there twice, the last one comes first
  using Any = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;

  JsonValue() = default;  // null
  explicit JsonValue(Any value);

  // Nothing if the string is not JSON, has a number beyond the range of a double, or nests more than 64 values.
  static std::optional<JsonValue> parse(std::string_view text);

  // The value, or nothing if it is of another type.
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<double> number() const;  // finite
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&value_); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&value_); }
  [[nodiscard]] const Object* object() const { return std::get_if<Object>(&value_); }
  // A number that is written without a fraction or an exponent, and fits.
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

  // The member of an object; null if this is not an object or has no such key.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;

  // A member that must be there; otherwise a not_found Error.
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
