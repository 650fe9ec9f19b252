// Something that does not work here, for a person: which device or part, what is wrong, and the exact thing to do.
// A plain value; none of the texts ends with a full stop.
#pragma once

#include <string>

namespace zeus::device {

struct Problem {
  std::string device;
  std::string what;
  std::string fix;

  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace zeus::device
