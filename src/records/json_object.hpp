// Reading one JSON object strictly: a key that is missing, of a wrong type or out of bounds is a corrupt_data Error
// that names it. For the formats of this module. A view: the JSON must outlive it.
#pragma once

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::records {

class JsonObject {
 public:
  // `what` is what the object should be, for messages: "a job's definition".
  JsonObject(const nlohmann::json& object, std::string_view what) : object_{&object}, what_{what} {
    if (!object.is_object()) {
      throw Error{ErrorKind::corrupt_data, fmt::format("this is not {}", what)};
    }
  }

  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const {
    throw Error{ErrorKind::corrupt_data, fmt::format("this is not {}: its '{}' is not {}", what_, key, expected)};
  }

  [[nodiscard]] const nlohmann::json& at(const char* key) const {
    const auto place = object_->find(key);
    if (place == object_->end()) {
      throw Error{ErrorKind::corrupt_data, fmt::format("this is not {}: it has no '{}'", what_, key)};
    }
    return *place;
  }

  [[nodiscard]] double number(const char* key) const {
    const nlohmann::json& value = at(key);
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      refuse(key, "a number");
    }
    return value.get<double>();
  }
  [[nodiscard]] std::optional<double> number_or_null(const char* key) const {
    return at(key).is_null() ? std::nullopt : std::optional{number(key)};
  }
  [[nodiscard]] double not_negative(const char* key) const {
    const double value = number(key);
    if (value < 0.0) {
      refuse(key, "a number from 0");
    }
    return value;
  }

  template <std::integral Integer>
  [[nodiscard]] Integer whole(const char* key) const {
    const nlohmann::json& value = at(key);
    if (value.is_number_unsigned() && std::in_range<Integer>(value.get<std::uint64_t>())) {
      return static_cast<Integer>(value.get<std::uint64_t>());
    }
    if (!value.is_number_integer() || value.is_number_unsigned() ||
        !std::in_range<Integer>(value.get<std::int64_t>())) {
      refuse(key, "a whole number within bounds");
    }
    return static_cast<Integer>(value.get<std::int64_t>());
  }
  // A whole number from 0.
  template <std::integral Integer>
  [[nodiscard]] Integer count(const char* key) const {
    const auto value = whole<Integer>(key);
    if (value < Integer{0}) {
      refuse(key, "a whole number from 0");
    }
    return value;
  }

  [[nodiscard]] std::string text(const char* key) const {
    const nlohmann::json& value = at(key);
    if (!value.is_string()) {
      refuse(key, "a text");
    }
    return value.get<std::string>();
  }
  [[nodiscard]] bool truth(const char* key) const {
    const nlohmann::json& value = at(key);
    if (!value.is_boolean()) {
      refuse(key, "true or false");
    }
    return value.get<bool>();
  }
  // A list of at most `most`, for the caller to walk.
  [[nodiscard]] const nlohmann::json& list(const char* key, std::size_t most) const {
    const nlohmann::json& value = at(key);
    if (!value.is_array() || value.size() > most) {
      refuse(key, fmt::format("a list of at most {}", most));
    }
    return value;
  }

 private:
  const nlohmann::json* object_;
  std::string_view what_;
};

}  // namespace zeus::records
