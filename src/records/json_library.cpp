#include "records/json_library.hpp"

#include "records/json_value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace zeus::records {

namespace {

using Library = nlohmann::json;

constexpr std::size_t deepest = 64;

// Builds a JsonValue from what the parser finds.
class Builder {
 public:
  bool null() { return add(JsonValue{}); }
  bool boolean(bool value) { return add(JsonValue{value}); }
  bool number_integer(std::int64_t value) { return add(JsonValue{value}); }
  bool number_unsigned(std::uint64_t value) { return add(JsonValue{value}); }
  bool number_float(double value, const std::string& /*text*/) { return add(JsonValue{value}); }
  bool string(std::string& value) { return add(JsonValue{std::move(value)}); }
  bool binary(Library::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open({.is_object = true, .key = {}, .list = {}, .object = {}}); }
  bool start_array(std::size_t /*size*/) { return open({.is_object = false, .key = {}, .list = {}, .object = {}}); }
  bool key(std::string& name) {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_array() {
    JsonValue value{std::move(open_.back().list)};
    open_.pop_back();
    return add(std::move(value));
  }
  bool end_object() {
    JsonValue value{sorted(std::move(open_.back().object))};
    open_.pop_back();
    return add(std::move(value));
  }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/, const Library::exception& /*error*/) {
    return false;
  }

  JsonValue take() { return std::move(whole_); }

 private:
  struct Level {
    bool is_object = false;
    std::string key;
    JsonValue::List list;
    JsonValue::Object object;
  };

  static JsonValue::Object sorted(JsonValue::Object members) {
    std::ranges::reverse(members);
    std::ranges::stable_sort(members, {}, &JsonValue::Member::key);
    return members;
  }

  bool open(Level level) {
    open_.push_back(std::move(level));
    return open_.size() <= deepest;
  }

  bool add(JsonValue value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().object.push_back({.key = std::move(open_.back().key), .value = std::move(value)});
    } else {
      open_.back().list.push_back(std::move(value));
    }
    return true;
  }

  JsonValue whole_;
  std::vector<Level> open_;
};

}  // namespace

std::optional<JsonValue> JsonValue::parse(std::string_view text) {
  Builder builder;
  if (!Library::sax_parse(text, &builder)) {
    return std::nullopt;
  }
  return builder.take();
}

void append_number(std::string& json, double number) {
  json += Library(number).dump();
}

void append_quoted(std::string& json, std::string_view string) {
  json += Library(string).dump(-1, ' ', false, Library::error_handler_t::replace);
}

}  // namespace zeus::records
