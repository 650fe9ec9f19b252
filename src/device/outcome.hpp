// The result of a request to a device: done, or the reason why not. Plain values.
#pragma once

#include <zeus/reading.hpp>

#include <variant>

namespace zeus::device {

// Converts to true if it was done.
using Outcome = Reading<std::monostate>;
inline constexpr std::monostate done{};

}  // namespace zeus::device
