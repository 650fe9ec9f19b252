// A combination of words and flags that makes no sense, found by the command itself. The message that the user reads
// ends with the command whose help has more; run_program() adds it.
#pragma once

#include <zeus/error.hpp>

#include <string>
#include <utility>

namespace zeus::command_line {

class BadUsage final : public Error {
 public:
  BadUsage(std::string message, std::string advice)
      : Error{ErrorKind::invalid_argument, std::move(message), std::move(advice)} {}
};

}  // namespace zeus::command_line
