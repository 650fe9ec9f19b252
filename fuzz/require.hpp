// What a fuzzer finds: a promise that does not hold ends the program.
#pragma once

#include <cstdlib>

namespace zeus::fuzz {

inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace zeus::fuzz
