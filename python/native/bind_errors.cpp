// Failures of libzeus as Python exceptions. The classes are those of zeus_cpp.exception, so that users can name what
// they catch; only this file maps kinds to them.
#include "bindings.hpp"

#include <zeus/error.hpp>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace zeus::python {

namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "ZeusInvalidArgumentError";
    case ErrorKind::not_found:
      return "ZeusNotFoundError";
    case ErrorKind::already_exists:
      return "ZeusAlreadyExistsError";
    case ErrorKind::permission_denied:
      return "ZeusPermissionError";
    case ErrorKind::unavailable:
      return "ZeusUnavailableError";
    case ErrorKind::conflict:
      return "ZeusConflictError";
    case ErrorKind::timeout:
      return "ZeusTimeoutError";
    case ErrorKind::corrupt_data:
      return "ZeusCorruptDataError";
    case ErrorKind::internal:
      break;
  }
  return "ZeusInternalError";
}

// Sets Python's exception.
void raise(const Error& error) {
  try {
    const Object package = Object::owned(PyImport_ImportModule("zeus_cpp.exception"));
    const Object type = package.attribute(class_of(error.kind()));
    const Object exception = type(std::string_view{error.what()});
    exception.set_attribute("advice", to_python(error.advice()));
    PyErr_SetObject(type.get(), exception.get());
  } catch (const PythonError& while_raising) {
    while_raising.restore();
  }
}

}  // namespace

void set_exception() noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const Error& error) {
    raise(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown failure in libzeus");
  }
}

void raise_failure(const Failure& failure) {
  const Object type = Object::owned(PyImport_ImportModule("zeus_cpp._native")).attribute("ReadingError");
  PyErr_SetObject(type.get(), tuple_of(field::name_of(failure.reason), to_string(failure)).get());
  throw PythonError{};
}

void bind_errors(const Object& module) {
  module.set_attribute("ReadingError",
                       Object::owned(PyErr_NewExceptionWithDoc("zeus_cpp._native.ReadingError",
                                                               "A device has no value: (name of the reason, message).",
                                                               PyExc_Exception, nullptr)));
}

}  // namespace zeus::python
