// The extension module of the Python package: libzeus for Python. The users' interface is written in Python on top of
// it.
#include "bindings.hpp"

#include <zeus/version.hpp>

PYBIND11_MODULE(_native, module) {
  namespace python = zeus::python;
  module.doc() = "libzeus for the package zeus_cpp; not an interface for users";
  module.def(
      "version", [] { return std::string{zeus::version()}; }, "The version of libzeus that is in use.");
  python::bind_errors(module);
  python::bind_measure(module);
  python::bind_device(module);
  python::bind_pipeline(module);
  python::bind_readings_watch(module);
  python::bind_train(module);
}
