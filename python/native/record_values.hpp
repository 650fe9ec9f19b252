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
py::object python_value(const Value& value);

// Puts the fields of a record into a dict.
class DictFields {
 public:
  explicit DictFields(py::dict& values) : values_{values} {}

  // Belongs to the stored format: Python's users do not see it.
  void version(int /*number*/) {}

  template <typename Value>
  void operator()(std::string_view name, const Value& value, const field::Rule& rule = {}) {
    values_[py::str{field::key_of<Value>(name, rule)}] = python_value(value);
  }
  template <typename Record>
  void operator()(std::string_view name, const Record& record, field::Beside /*beside*/) {
    (*this)(name, record);
  }

 private:
  py::dict& values_;
};

template <typename Record>
py::dict dict_of(const Record& record) {
  py::dict values;
  DictFields fields{values};
  Record::describe(fields, record);
  return values;
}

// A variant of events: "event" says which one.
template <typename... Events>
py::dict event_dict(const std::variant<Events...>& event) {
  return std::visit(
      []<typename Event>(const Event& one) {
        py::dict values;
        values["event"] = Event::kind;
        DictFields fields{values};
        Event::describe(fields, one);
        return values;
      },
      event);
}

template <typename Value>
py::object python_value(const Value& value) {
  if constexpr (field::is_optional<Value>) {
    return value ? python_value(*value) : py::object{py::none()};
  } else if constexpr (field::Measured<Value>) {
    return py::float_{value.value()};
  } else if constexpr (std::is_enum_v<Value>) {
    std::string name{field::name_of(value)};  // in Python's spelling
    std::ranges::replace(name, ' ', '_');
    return py::str{name};
  } else if constexpr (field::is_list<Value>) {
    py::list members;
    for (const auto& member : value) {
      members.append(python_value(member));
    }
    return members;
  } else if constexpr (field::Described<Value>) {
    return dict_of(value);
  } else {
    return py::cast(value);
  }
}

}  // namespace zeus::python
