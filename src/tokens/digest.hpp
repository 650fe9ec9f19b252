// A short digest that tells strings apart. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::tokens {

// "sha256:" and 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace zeus::tokens
