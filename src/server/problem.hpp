// What is answered when it was not done: the one place where failures become statuses. Pure functions; any thread.
#pragma once

#include "transport/http.hpp"

#include <zeus/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::server {

inline constexpr std::string_view problem_type = "application/problem+json";

// A refusal of the service itself, whose status no kind of Error has: another user's recurrence, a body of another
// type.
class Refusal : public Error {
 public:
  Refusal(int status, ErrorKind kind, std::string message, std::string advice = {})
      : Error{kind, std::move(message), std::move(advice)}, status_{status} {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

// Those of the store are the service's own and no fault of whoever asks: 503 where it may go better soon.
int status_of(const Error& error);

// What may be told of an Error to whoever asks: nothing of this machine's files or of SQL.
struct Told {
  std::string detail;
  std::string advice;  // may be empty
};
Told told(const Error& error);

transport::Answer problem(int status, std::string_view kind, std::string_view detail, std::string_view advice = {});
transport::Answer problem(const Error& error);
// Of a request that was refused before it was a request.
transport::Answer refused_request(int status, std::string_view reason);

}  // namespace zeus::server
