// A refusal by a service itself, with a status that no kind of Error has, such as for another user's recurrence or a
// body of another type. Plain value; any thread.
#pragma once

#include <zeus/error.hpp>

#include <string>
#include <utility>

namespace zeus::service {

class Refusal : public Error {
 public:
  Refusal(int status, ErrorKind kind, std::string message, std::string advice = {})
      : Error{kind, std::move(message), std::move(advice)}, status_{status} {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

}  // namespace zeus::service
