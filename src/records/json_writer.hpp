// Writes JSON, piece by piece or a whole record from its description (zeus/fields.hpp). Bytes that are not UTF-8 are
// replaced; numbers that are not finite become null. One thread at a time.
//
//   JsonWriter json;
//   json.object([&] {
//     json.put("name", job.name);
//     json.put_list("gpus", gpus, [&](const Gpu& gpu) { json.value(gpu.uuid); });
//     json.put("holder", [&] { json.put("pid", pid); });
//     json.put("limit_w", limit, "it cannot be read");  // null, with the reason in "reason" at the object's end
//   });
//   json.take();
#pragma once

#include <zeus/fields.hpp>

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::records {

class JsonWriter {
 public:
  enum class Layout { one_line, indented };
  explicit JsonWriter(Layout layout = Layout::one_line) : layout_{layout} {}

  std::string take() { return std::move(text_); }

  // Values: the whole document, or the next member of a list.

  // A boolean, number, string, enum, quantity, optional, list, map from an enum, record, variant of records, a type
  // with a function write_json(JsonWriter&, const Value&), or an object's members as a function.
  template <typename Value>
  void value(const Value& value);

  template <std::invocable Members>
  void object(const Members& members) {
    open('{');
    members();
    close_object();
  }

  template <typename Range, typename Each>
  void list(const Range& range, const Each& each) {
    open('[');
    for (const auto& one : range) {
      each(one);
    }
    close(']');
  }

  // A list; `members` writes its elements.
  template <std::invocable Members>
  void tuple(const Members& members) {
    open('[');
    members();
    close(']');
  }

  // Members of the current object.

  template <typename Value>
  void put(std::string_view key, const Value& value) {
    this->key(key);
    this->value(value);
  }
  template <typename Value>
  void put(std::string_view key, const std::optional<Value>& value, std::string_view why_not) {
    put(key, value);
    if (!value) {
      because(key, why_not);
    }
  }
  template <typename Range, typename Each>
  void put_list(std::string_view key, const Range& range, const Each& each) {
    this->key(key);
    list(range, each);
  }
  void put_unknown(std::string_view key, std::string_view why);
  // Why something in this object is null. The object ends with "reason", which has all such reasons.
  void because(std::string_view key, std::string_view why);

  // The fields of a record, or of a variant and its kind, as members of this object.
  template <typename Record>
  void put_fields(const Record& record);

 private:
  class Fields;
  struct Level {
    bool empty = true;
    std::vector<std::pair<std::string, std::string>> reasons;
  };

  void key(std::string_view name);
  void open(char begin);
  void close(char end);
  void close_object();
  void begin_value();
  void new_line();
  void add(std::string_view literal);
  void add(double number);
  void add(std::int64_t number);
  void add(std::uint64_t number);
  void add_string(std::string_view string);

  Layout layout_;
  bool after_key_ = false;
  std::string text_;
  std::vector<Level> levels_;
};

class JsonWriter::Fields {
 public:
  explicit Fields(JsonWriter& json) : json_{json} {}

  void version(int number, std::string_view key = "version") { json_.put(key, number); }

  template <typename Value>
  void operator()(std::string_view name, const Value& value, const field::Rule& rule = {}) {
    const std::string key = field::key_of<Value>(name, rule);
    if constexpr (field::is_optional<Value>) {
      if (!value && rule.left_out) {
        return;
      }
      if (!value && rule.reason) {
        json_.because(key, *rule.reason);
      }
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (value.empty() && rule.left_out) {
        return;
      }
    }
    json_.put(key, value);
  }
  template <typename Record>
  void operator()(std::string_view /*name*/, const Record& record, field::Beside /*beside*/) {
    json_.put_fields(record);
  }

 private:
  JsonWriter& json_;
};

template <typename Record>
void JsonWriter::put_fields(const Record& record) {
  if constexpr (field::is_variant<Record>) {
    std::visit(
        [this]<typename Kind>(const Kind& one) {
          this->put("kind", Kind::kind);
          this->put_fields(one);
        },
        record);
  } else {
    Fields fields{*this};
    Record::describe(fields, record);
  }
}

template <typename Value>
void JsonWriter::value(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    add(value ? "true" : "false");
  } else if constexpr (std::is_same_v<Value, std::nullptr_t>) {
    add("null");
  } else if constexpr (std::unsigned_integral<Value>) {
    add(std::uint64_t{value});
  } else if constexpr (std::integral<Value>) {
    add(std::int64_t{value});
  } else if constexpr (std::floating_point<Value>) {
    add(double{value});
  } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    add_string(value);
  } else if constexpr (std::is_enum_v<Value>) {
    add_string(field::name_of(value));
  } else if constexpr (requires { write_json(*this, value); }) {
    write_json(*this, value);
  } else if constexpr (field::is_optional<Value>) {
    if (value) {
      this->value(*value);
    } else {
      add("null");
    }
  } else if constexpr (field::Measured<Value>) {
    add(value.value());
  } else if constexpr (field::is_list<Value>) {
    list(value, [this](const auto& one) { this->value(one); });
  } else if constexpr (std::invocable<const Value&>) {
    object(value);
  } else if constexpr (requires { typename Value::mapped_type; }) {
    object([&] {
      for (const auto& [key, one] : value) {
        put(field::name_of(key), one);
      }
    });
  } else {
    object([&] { put_fields(value); });
  }
}

// A value on one line, without its end.
template <typename Value>
std::string json_line(const Value& value) {
  JsonWriter json;
  json.value(value);
  return json.take();
}

}  // namespace zeus::records
