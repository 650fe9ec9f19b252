#include "records/json_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::records {

JsonValue::JsonValue(Any value) : value_{std::move(value)} {
}

std::optional<bool> JsonValue::boolean() const {
  const bool* const value = std::get_if<bool>(&value_);
  return value != nullptr ? std::optional{*value} : std::nullopt;
}

std::optional<double> JsonValue::number() const {
  if (const auto* number = std::get_if<double>(&value_)) {
    return *number;
  }
  if (const auto* number = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*number);
  }
  return std::nullopt;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* const members = object();
  if (members == nullptr) {
    return nullptr;
  }
  const auto place = std::ranges::lower_bound(*members, key, {}, &Member::key);
  return place != members->end() && place->key == key ? &place->value : nullptr;
}

const JsonValue& JsonValue::operator[](std::string_view key) const {
  const JsonValue* const member = find(key);
  if (member == nullptr) {
    throw Error{ErrorKind::not_found, fmt::format("there is no '{}' in this JSON", key)};
  }
  return *member;
}

const JsonValue& JsonValue::operator[](std::size_t index) const {
  if (list() == nullptr || index >= list()->size()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no member {} in this JSON", index)};
  }
  return (*list())[index];
}

std::size_t JsonValue::size() const {
  if (object() != nullptr) {
    return object()->size();
  }
  return list() != nullptr ? list()->size() : 0;
}

bool operator==(const JsonValue& a, const JsonValue& b) {
  return a.value_ == b.value_;
}

}  // namespace zeus::records
