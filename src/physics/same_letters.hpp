// Names as people type them: "a100" means A100. A pure function; callable from any thread.
#pragma once

#include <algorithm>
#include <string_view>

namespace zeus::physics {

// True if two ASCII names differ only in the case of their letters.
inline bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace zeus::physics
