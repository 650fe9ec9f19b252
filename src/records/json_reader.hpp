// Reads records from JSON by their descriptions (zeus/fields.hpp), strictly: a missing or unknown key, a wrong type, or
// a value out of bounds is a corrupt_data Error that says where it is. Pure functions; any thread.
#pragma once

#include "records/json_value.hpp"

#include <zeus/error.hpp>
#include <zeus/fields.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::records {

// The beginning and the end of Errors: "this is not a power profile", and what to do about it.
struct JsonForm {
  std::string_view refusal;
  std::string_view advice = {};
  std::string_view not_json = "it is not JSON";
  // A newer version than this one may have written it: unknown keys are skipped, and an unknown optional enumerator
  // becomes nothing.
  bool newer = false;
};

// A place in a document, for Errors that name it: "measurements[2].limit_w". Must not outlive the place around it.
class JsonPlace {
 public:
  explicit JsonPlace(const JsonForm& form) : form_{form} {}

  [[nodiscard]] JsonPlace at(std::string_view key) const { return {form_, this, key, 0}; }
  [[nodiscard]] JsonPlace at(std::size_t index) const { return {form_, this, {}, index}; }

  // Whether to skip unknown keys.
  [[nodiscard]] bool may_be_newer() const { return form_.newer; }

  // "this is not X: its 'time_s' is not a number"; for the whole document, "this is not X".
  [[noreturn]] void refuse(std::string_view expected) const;
  [[noreturn]] void refuse_lack(std::string_view key) const;
  [[noreturn]] void refuse_unknown(std::string_view key) const;
  // The same with the caller's own words after "this is not X: ".
  [[noreturn]] void refuse_as(std::string_view why) const;
  // "measurements[2].limit_w"
  [[nodiscard]] std::string path() const;

 private:
  JsonPlace(const JsonForm& form, const JsonPlace* around, std::string_view key, std::size_t index)
      : form_{form}, around_{around}, key_{key}, index_{index} {}

  JsonForm form_;
  const JsonPlace* around_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

// Reads the fields of an object, one after the other; the function that describes a record takes one of these.
class JsonFields {
 public:
  // Refuses anything but an object. The JSON and the place must outlive this.
  JsonFields(const JsonValue& json, const JsonPlace& place);

  void version(int number, std::string_view key = "version");

  template <typename Value>
  void operator()(std::string_view name, Value& value, const field::Rule& rule = {});
  template <typename Record>
  void operator()(std::string_view name, Record& record, field::Beside beside);

  // Refuses the object if it has a key that was not asked for, unless a newer version may have written it.
  void finish() const;

 private:
  // Null if there is no such key, which is refused unless it `may_lack`.
  const JsonValue* take(std::string_view key, bool may_lack);
  // Why this field is unknown; empty if no reason is given.
  std::string reason_of(std::string_view key);

  const JsonValue* json_;
  const JsonPlace* place_;
  std::vector<std::string> taken_;
};

// Each reads a value, or refuses its place.

bool read_boolean(const JsonValue& json, const JsonPlace& place);
double read_number(const JsonValue& json, const JsonPlace& place, const field::Rule& rule);
std::int64_t read_whole(const JsonValue& json, const JsonPlace& place, const field::Rule& rule, std::int64_t least,
                        std::int64_t most);
std::uint64_t read_whole(const JsonValue& json, const JsonPlace& place, const field::Rule& rule, std::uint64_t least,
                         std::uint64_t most);
const std::string& read_string(const JsonValue& json, const JsonPlace& place);
const JsonValue::List& read_list(const JsonValue& json, const JsonPlace& place, const field::Rule& rule);
const JsonValue::Object& read_object(const JsonValue& json, const JsonPlace& place);

// True for an enumerator that only a newer version knows, if that is allowed here.
template <typename Value>
bool is_unknown_word(const JsonValue& json, const JsonPlace& place) {
  if constexpr (std::is_enum_v<Value>) {
    return place.may_be_newer() && json.string() != nullptr && !field::named<Value>(*json.string());
  } else {
    return false;
  }
}

// Any value that JsonWriter::value writes. A type with a format of its own has a function read_json(const JsonValue&,
// const JsonPlace&, Value&).
template <typename Value>
void read_value(const JsonValue& json, const JsonPlace& place, Value& value, const field::Rule& rule = {}) {
  if constexpr (std::is_same_v<Value, bool>) {
    value = read_boolean(json, place);
  } else if constexpr (std::integral<Value>) {
    using Widest = std::conditional_t<std::signed_integral<Value>, std::int64_t, std::uint64_t>;
    using Limits = std::numeric_limits<Value>;
    value = static_cast<Value>(read_whole(json, place, rule, Widest{Limits::lowest()}, Widest{Limits::max()}));
  } else if constexpr (std::is_same_v<Value, double>) {
    value = rule.null_is_infinite && json.is_null() ? std::numeric_limits<double>::infinity()
                                                    : read_number(json, place, rule);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = read_string(json, place);
  } else if constexpr (std::is_enum_v<Value>) {
    const std::optional<Value> known = field::named<Value>(read_string(json, place));
    if (!known) {
      place.refuse("a known value");
    }
    value = *known;
  } else if constexpr (requires { read_json(json, place, value); }) {
    read_json(json, place, value);
  } else if constexpr (field::is_optional<Value>) {
    value.reset();
    if (!json.is_null() && !is_unknown_word<typename Value::value_type>(json, place)) {
      read_value(json, place, value.emplace(), rule);
    }
  } else if constexpr (field::Measured<Value>) {
    value = Value{read_number(json, place, rule)};
  } else if constexpr (field::is_list<Value>) {
    const JsonValue::List& members = read_list(json, place, rule);
    value.clear();
    for (std::size_t index = 0; index < members.size(); ++index) {
      read_value(members[index], place.at(index), value.emplace_back(), rule);
    }
  } else if constexpr (requires { typename Value::mapped_type; }) {
    value.clear();
    for (const JsonValue::Member& member : read_object(json, place)) {
      const auto key = field::named<typename Value::key_type>(member.key);
      if (!key) {
        place.refuse_unknown(member.key);
      }
      read_value(member.value, place.at(member.key), value[*key], rule);
    }
  } else {
    JsonFields fields{json, place};  // NOLINT(misc-const-correctness): a call inside a template changes it
    fields({}, value, field::beside);
    fields.finish();
  }
}

template <typename Value>
void JsonFields::operator()(std::string_view name, Value& value, const field::Rule& rule) {
  const std::string key = field::key_of<Value>(name, rule);
  if (const JsonValue* const member = take(key, rule.left_out)) {
    if constexpr (field::is_optional<Value>) {
      if (rule.left_out) {
        const JsonPlace place = place_->at(key);
        if (!is_unknown_word<typename Value::value_type>(*member, place)) {
          read_value(*member, place, value.emplace(), rule);
        }
        return;
      }
    }
    read_value(*member, place_->at(key), value, rule);
    if constexpr (field::is_optional<Value>) {
      if (rule.reason) {
        std::string said = reason_of(key);
        if (rule.read_reason != nullptr) {
          *rule.read_reason = value ? std::string{} : std::move(said);
        }
      }
    }
  }
}

template <typename Record>
void JsonFields::operator()(std::string_view /*name*/, Record& record, field::Beside /*beside*/) {
  if constexpr (field::is_variant<Record>) {
    std::string kind;
    (*this)("kind", kind);
    const auto begin = [&]<typename... Kinds>(std::variant<Kinds...>& one) {
      return ((kind == Kinds::kind && (one.template emplace<Kinds>(), true)) || ...);
    };
    if (!begin(record)) {
      place_->at("kind").refuse("a known one");
    }
    std::visit([this](auto& one) { (*this)({}, one, field::beside); }, record);
  } else {
    Record::describe(*this, record);
  }
}

// Also refuses what is not JSON at all.
JsonValue parse_json(std::string_view text, const JsonForm& form);

template <typename Record>
Record read_record(const JsonValue& json, const JsonForm& form) {
  Record record;
  read_value(json, JsonPlace{form}, record);
  return record;
}

template <typename Record>
Record record_from_json(std::string_view text, const JsonForm& form) {
  return read_record<Record>(parse_json(text, form), form);
}

}  // namespace zeus::records
