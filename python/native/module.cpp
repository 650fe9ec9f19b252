// The extension module of the Python package: libzeus for Python. The users' interface is written in Python on top of
// it.
#include "bindings.hpp"

#include <zeus/version.hpp>

#include <string>

namespace {

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "zeus_cpp._native",
                       "libzeus for the package zeus_cpp; not an interface for users",
                       -1,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the interpreter looks for this name
PyMODINIT_FUNC PyInit__native() {
  namespace python = zeus::python;
  try {
    python::Object module = python::Object::owned(PyModule_Create(&definition));
    python::add_function(
        module, "version", [] { return std::string{zeus::version()}; }, {}, "The version of libzeus that is in use.");
    python::bind_errors(module);
    python::bind_measure(module);
    python::bind_device(module);
    python::bind_pipeline(module);
    python::bind_readings_watch(module);
    python::bind_train(module);
    return module.release();
  } catch (...) {
    python::set_exception();
    return nullptr;
  }
}
