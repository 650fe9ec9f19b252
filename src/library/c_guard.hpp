// The wall of base/c_wall.hpp for the functions of zeus.h: their status, and their last error. Any thread.
#pragma once

#include <zeus/zeus.h>

#include "base/c_wall.hpp"

#include <utility>

namespace zeus::library {

// Runs `body`. What it throws becomes the status and the text of zeus_last_error().
template <typename Body>
zeus_status guarded(Body&& body) noexcept {
  return c_wall::guarded<zeus_status>(std::forward<Body>(body), zeus_set_last_error);
}

}  // namespace zeus::library
