// Failures of libzeus as Python exceptions. The classes are those of zeus_cpp.exception, so that users can name what
// they catch; only this file maps kinds to them.
#include "bindings.hpp"

#include <zeus/error.hpp>

#include <exception>

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

void raise(const Error& error) {
  try {
    const py::object type = py::module_::import("zeus_cpp.exception").attr(class_of(error.kind()));
    const py::object exception = type(error.what());
    exception.attr("advice") = error.advice();
    PyErr_SetObject(type.ptr(), exception.ptr());
  } catch (py::error_already_set& while_raising) {
    while_raising.restore();
  }
}

}  // namespace

void raise_failure(const Failure& failure) {
  const py::object type = py::module_::import("zeus_cpp._native").attr("ReadingError");
  PyErr_SetObject(type.ptr(), py::make_tuple(field::name_of(failure.reason), to_string(failure)).ptr());
  throw py::error_already_set{};
}

void bind_errors(py::module_& module) {
  const py::object reading_error = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc("zeus_cpp._native.ReadingError",
                                "A device has no value: (name of the reason, message).", PyExc_Exception, nullptr));
  module.add_object("ReadingError", reading_error);
  py::register_exception_translator([](std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param)
    try {
      if (thrown) {
        std::rethrow_exception(thrown);
      }
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace zeus::python
