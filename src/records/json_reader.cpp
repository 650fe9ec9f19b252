#include "records/json_reader.hpp"

#include "base/field_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zeus::records {

namespace {

template <typename Integer>
Integer whole(const JsonValue& json, const JsonPlace& place, const field::Rule& rule, Integer least, Integer most) {
  const std::optional<Integer> number = json.whole<Integer>();
  if (!number || *number < least || *number > most || !is_within(static_cast<double>(*number), rule)) {
    place.refuse(bounds_in_words("a whole number", rule, static_cast<double>(least), static_cast<double>(most)));
  }
  return *number;
}

}  // namespace

std::string JsonPlace::path() const {
  if (around_ == nullptr) {
    return {};
  }
  std::string path = around_->path();
  if (key_.empty()) {
    return path + fmt::format("[{}]", index_);
  }
  return path.empty() ? std::string{key_} : fmt::format("{}.{}", path, key_);
}

void JsonPlace::refuse_as(std::string_view why) const {
  throw Error{ErrorKind::corrupt_data,
              why.empty() ? std::string{form_.refusal} : fmt::format("{}: {}", form_.refusal, why),
              std::string{form_.advice}};
}

void JsonPlace::refuse(std::string_view expected) const {
  refuse_as(around_ == nullptr ? std::string{} : fmt::format("its '{}' is not {}", path(), expected));
}

void JsonPlace::refuse_lack(std::string_view key) const {
  refuse_as(fmt::format("it has no '{}'", at(key).path()));
}

void JsonPlace::refuse_unknown(std::string_view key) const {
  refuse_as(fmt::format("it has an unknown key '{}'", at(key).path()));
}

JsonFields::JsonFields(const JsonValue& json, const JsonPlace& place) : json_{&json}, place_{&place} {
  read_object(json, place);
}

const JsonValue* JsonFields::take(std::string_view key, bool may_lack) {
  const JsonValue* const member = json_->find(key);
  if (member == nullptr && !may_lack) {
    place_->refuse_lack(key);
  }
  taken_.emplace_back(key);
  return member;
}

std::string JsonFields::reason_of(std::string_view key) {
  const JsonValue* const reasons = take("reason", true);
  if (reasons == nullptr) {
    return {};
  }
  read_object(*reasons, place_->at("reason"));
  const JsonValue* const said = reasons->find(key);
  return said == nullptr ? std::string{} : read_string(*said, place_->at("reason").at(key));
}

void JsonFields::version(int number, std::string_view key) {
  if (take(key, false)->whole<int>() != number) {
    place_->at(key).refuse(fmt::format("{}", number));
  }
}

void JsonFields::finish() const {
  if (place_->may_be_newer()) {
    return;
  }
  for (const JsonValue::Member& member : *json_->object()) {
    if (std::ranges::find(taken_, member.key) == taken_.end()) {
      place_->refuse_unknown(member.key);
    }
  }
}

bool read_boolean(const JsonValue& json, const JsonPlace& place) {
  const std::optional<bool> value = json.boolean();
  if (!value) {
    place.refuse("true or false");
  }
  return *value;
}

double read_number(const JsonValue& json, const JsonPlace& place, const field::Rule& rule) {
  const std::optional<double> number = json.number();
  if (!number || !is_within(*number, rule)) {
    constexpr double most = std::numeric_limits<double>::max();
    place.refuse(bounds_in_words("a number", rule, -most, most));
  }
  return *number;
}

std::int64_t read_whole(const JsonValue& json, const JsonPlace& place, const field::Rule& rule, std::int64_t least,
                        std::int64_t most) {
  return whole(json, place, rule, least, most);
}

std::uint64_t read_whole(const JsonValue& json, const JsonPlace& place, const field::Rule& rule, std::uint64_t least,
                         std::uint64_t most) {
  return whole(json, place, rule, least, most);
}

const std::string& read_string(const JsonValue& json, const JsonPlace& place) {
  if (json.string() == nullptr) {
    place.refuse("a string");
  }
  return *json.string();
}

const JsonValue::List& read_list(const JsonValue& json, const JsonPlace& place, const field::Rule& rule) {
  if (json.list() == nullptr || json.list()->size() > rule.members || json.list()->size() < rule.fewest) {
    place.refuse(rule.fewest > 0 ? fmt::format("a list of {} to {}", rule.fewest, rule.members)
                                 : fmt::format("a list of at most {}", rule.members));
  }
  return *json.list();
}

const JsonValue::Object& read_object(const JsonValue& json, const JsonPlace& place) {
  if (json.object() == nullptr) {
    place.refuse("an object");
  }
  const auto twice = std::ranges::adjacent_find(*json.object(), {}, &JsonValue::Member::key);
  if (twice != json.object()->end()) {
    place.refuse_as(fmt::format("it has '{}' twice", place.at(twice->key).path()));
  }
  return *json.object();
}

JsonValue parse_json(std::string_view text, const JsonForm& form) {
  std::optional<JsonValue> json = JsonValue::parse(text);
  if (!json) {
    JsonPlace{form}.refuse_as(form.not_json);
  }
  return *std::move(json);
}

}  // namespace zeus::records
