// Refuses what a caller has given unless it holds: an invalid_argument Error with these words. Any thread.
#pragma once

#include <zeus/error.hpp>

namespace zeus::job_library {

inline void require(bool holds, const char* what, const char* advice) {
  if (!holds) {
    throw Error{ErrorKind::invalid_argument, what, advice};
  }
}

}  // namespace zeus::job_library
