#include "objects.hpp"

#include <unistd.h>

#include <exception>
#include <limits>
#include <new>
#include <string>

namespace zeus::python {

namespace {

std::string type_name(PyObject* object) {
  return Object::borrowed(reinterpret_cast<PyObject*>(Py_TYPE(object))).attribute("__name__").as<std::string>();
}

}  // namespace

Object Object::owned(PyObject* made) {
  if (made == nullptr) {
    throw PythonError{};
  }
  Object object;
  object.held_ = made;
  return object;
}

Object Object::borrowed(PyObject* object) {
  Py_INCREF(object);
  return owned(object);
}

Object Object::attribute(const char* name) const {
  return owned(PyObject_GetAttrString(held_, name));
}

void Object::set_attribute(const char* name, const Object& value) const {
  if (PyObject_SetAttrString(held_, name, value.get()) != 0) {
    throw PythonError{};
  }
}

void wait_for_the_end_of_the_process() {
  while (true) {
    ::pause();
  }
}

PythonError::PythonError() {
  Parts parts;
  PyErr_Fetch(&parts.type, &parts.value, &parts.trace);
  PyErr_NormalizeException(&parts.type, &parts.value, &parts.trace);
  parts_ = {new Parts{parts}, [](const Parts* dropped) {
              const WithGil gil;
              Py_XDECREF(dropped->type);
              Py_XDECREF(dropped->value);
              Py_XDECREF(dropped->trace);
              delete dropped;  // NOLINT(cppcoreguidelines-owning-memory): the deleter of a shared_ptr
            }};
}

void PythonError::restore() const {
  Py_XINCREF(parts_->type);
  Py_XINCREF(parts_->value);
  Py_XINCREF(parts_->trace);
  PyErr_Restore(parts_->type, parts_->value, parts_->trace);
}

std::string PythonError::text() const {
  if (parts_->value == nullptr) {
    return "an unknown exception";
  }
  try {
    return type_name(parts_->value) + ": " + Object::owned(PyObject_Str(parts_->value)).as<std::string>();
  } catch (const PythonError&) {
    return type_name(parts_->value);
  }
}

bool PythonError::ends_the_program() const {
  return parts_->type != nullptr && PyErr_GivenExceptionMatches(parts_->type, PyExc_Exception) == 0;
}

void fail(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw PythonError{};
}

void fail_to_convert(const char* wanted, PyObject* given) {
  fail(PyExc_TypeError, std::string{"expected "} + wanted + ", not " + type_name(given));
}

Object text_to_python(std::string_view text) {
  // Names of devices and messages of drivers come from elsewhere, and need not be UTF-8.
  return Object::owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::string text_from_python(PyObject* object) {
  Object bytes;
  if (PyUnicode_Check(object) != 0) {
    bytes = Object::owned(PyUnicode_AsUTF8String(object));
  } else if (PyBytes_Check(object) != 0) {
    bytes = Object::borrowed(object);
  } else {
    fail_to_convert("str", object);
  }
  char* text = nullptr;
  Py_ssize_t length = 0;
  if (PyBytes_AsStringAndSize(bytes.get(), &text, &length) != 0) {
    throw PythonError{};
  }
  return {text, static_cast<std::size_t>(length)};
}

std::int64_t integer_from_python(PyObject* object, std::int64_t least, std::int64_t most) {
  const std::int64_t value = PyLong_AsLongLong(Object::owned(PyNumber_Index(object)).get());
  if (value == -1 && PyErr_Occurred() != nullptr) {
    throw PythonError{};
  }
  if (value < least || value > most) {
    fail(PyExc_OverflowError, "the number is out of range: " + std::to_string(value));
  }
  return value;
}

std::uint64_t natural_from_python(PyObject* object, std::uint64_t most) {
  const std::uint64_t value = PyLong_AsUnsignedLongLong(Object::owned(PyNumber_Index(object)).get());
  if (value == std::numeric_limits<std::uint64_t>::max() && PyErr_Occurred() != nullptr) {
    throw PythonError{};
  }
  if (value > most) {
    fail(PyExc_OverflowError, "the number is out of range: " + std::to_string(value));
  }
  return value;
}

double number_from_python(PyObject* object) {
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    throw PythonError{};
  }
  return value;
}

bool truth_from_python(PyObject* object) {
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) {
    throw PythonError{};
  }
  return truth != 0;
}

std::vector<Object> members_of(PyObject* sequence, std::optional<std::size_t> count) {
  if (PySequence_Check(sequence) == 0 || PyUnicode_Check(sequence) != 0 || PyBytes_Check(sequence) != 0) {
    fail_to_convert("a list or tuple", sequence);
  }
  const Py_ssize_t size = PySequence_Size(sequence);
  if (size < 0) {
    throw PythonError{};
  }
  if (count && static_cast<std::size_t>(size) != *count) {
    fail(PyExc_TypeError, "expected " + std::to_string(*count) + " members, not " + std::to_string(size));
  }
  std::vector<Object> members;
  members.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    members.push_back(Object::owned(PySequence_GetItem(sequence, i)));
  }
  return members;
}

namespace call {

void sort_arguments(const char* function, const char* const* names, PyObject* arguments, PyObject* keywords,
                    PyObject** sorted, std::size_t count) {
  const auto placed = static_cast<std::size_t>(arguments == nullptr ? 0 : PyTuple_Size(arguments));
  const auto named = static_cast<std::size_t>(keywords == nullptr ? 0 : PyDict_Size(keywords));
  if (placed + named != count) {
    fail(PyExc_TypeError, std::string{function} + "() takes " + std::to_string(count) + " arguments, and " +
                              std::to_string(placed + named) + " were given");
  }
  for (std::size_t i = 0; i < placed; ++i) {
    sorted[i] = PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i));
  }
  for (std::size_t i = placed; i < count; ++i) {
    sorted[i] = names[i] == nullptr ? nullptr : PyDict_GetItemString(keywords, names[i]);
    if (sorted[i] == nullptr) {
      fail(PyExc_TypeError,
           std::string{function} + "() needs the argument '" + (names[i] == nullptr ? "" : names[i]) + "'");
    }
  }
}

}  // namespace call

}  // namespace zeus::python
