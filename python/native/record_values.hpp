// Records of the public headers as Python values, made from their descriptions (zeus/fields.hpp): a dict of numbers,
// strings, lists and further dicts. Called with the GIL held.
#pragma once

#include "bindings.hpp"

#include <zeus/fields.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

namespace zeus::python {

template <typename Value>
Object python_value(const Value& value);

// Puts the fields of a record into a dict.
class DictFields {
 public:
  explicit DictFields(Dict& values) : values_{values} {}

  // Belongs to the stored format: Python's users do not see it.
  void version(int /*number*/) {}

  template <typename Value>
  void operator()(std::string_view name, const Value& value, const field::Rule& rule = {}) {
    values_.set(field::key_of<Value>(name, rule), python_value(value));
  }
  template <typename Record>
  void operator()(std::string_view name, const Record& record, field::Beside /*beside*/) {
    (*this)(name, record);
  }

 private:
  Dict& values_;
};

template <typename Record>
Dict dict_of(const Record& record) {
  Dict values;
  DictFields fields{values};
  Record::describe(fields, record);
  return values;
}

// A variant of events: "event" says which one.
template <typename... Events>
Dict event_dict(const std::variant<Events...>& event) {
  return std::visit(
      []<typename Event>(const Event& one) {
        Dict values;
        values.set("event", Event::kind);
        DictFields fields{values};
        Event::describe(fields, one);
        return values;
      },
      event);
}

template <typename Value>
Object python_value(const Value& value) {
  if constexpr (field::is_optional<Value>) {
    return value ? python_value(*value) : Object::none();
  } else if constexpr (field::Measured<Value>) {
    return to_python(value.value());
  } else if constexpr (std::is_enum_v<Value>) {
    std::string name{field::name_of(value)};  // in Python's spelling
    std::ranges::replace(name, ' ', '_');
    return to_python(name);
  } else if constexpr (field::is_list<Value>) {
    List members;
    for (const auto& member : value) {
      members.append(python_value(member));
    }
    return members;
  } else if constexpr (field::Described<Value>) {
    return dict_of(value);
  } else {
    return to_python(value);
  }
}

}  // namespace zeus::python
