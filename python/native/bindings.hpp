// What the parts of the extension module zeus_cpp._native share: each part adds its names to the module in a function
// of its own, and module.cpp calls them all. Everything here is called with Python's lock (the GIL) held, unless it
// says otherwise. Code that may wait for a device, a thread or a lock of libzeus releases the GIL meanwhile.
#pragma once

#include "objects.hpp"

#include <zeus/device.hpp>

namespace zeus::python {

// Failures of libzeus become exceptions of zeus_cpp.exception, one class for each kind.
void bind_errors(const Object& module);
void bind_measure(const Object& module);
void bind_device(const Object& module);
void bind_pipeline(const Object& module);
void bind_readings_watch(const Object& module);
void bind_train(const Object& module);

// zeus_cpp._native.ReadingError with the reason's name and text.
[[noreturn]] void raise_failure(const Failure& failure);

// The value of a reading, or its failure as that exception.
template <typename T>
T value_of(const Reading<T>& reading) {
  if (!reading) {
    raise_failure(reading.failure());
  }
  return *reading;
}

}  // namespace zeus::python
