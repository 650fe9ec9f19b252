// A holder for objects whose destruction may wait for a thread, a device or other ranks: it releases the GIL meanwhile,
// even if Python's garbage collector destroys them.
#pragma once

#include "bindings.hpp"

#include <memory>

namespace zeus::python {

template <typename Object>
struct DeleteWithoutGil {
  void operator()(Object* object) const {
    without_gil([object] { delete object; });  // NOLINT(cppcoreguidelines-owning-memory): the deleter of a unique_ptr
  }
};

template <typename Object>
using FreedWithoutGil = std::unique_ptr<Object, DeleteWithoutGil<Object>>;

}  // namespace zeus::python
