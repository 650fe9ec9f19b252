// A service's answer when it does not do what was asked: a status and a body. Plain values and pure functions; any
// thread.
#pragma once

#include <zeus/error.hpp>
#include <zeus/reading.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::protocol {

enum class Status : std::uint16_t {
  ok = 200,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  conflict = 409,
  too_many = 429,
  internal = 500,
  stuck = 503,
  timeout = 504,
};

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view text_type = "text/plain; charset=utf-8";

struct Refusal {
  Status status = Status::bad_request;
  std::string_view content_type = json_type;  // static storage
  std::string body;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

Status status_of(Reason reason);
Status status_of(ErrorKind kind);

// {"error":"..."}
std::string error_body(std::string_view text);
Refusal refusal(Status status, std::string_view text);
Refusal text_refusal(Status status, std::string_view text);
// The message and the advice of an Error, without its causes.
Refusal refusal(const Error& error);

// The errors of some of several devices (or other numbered things). The answer's status is the largest one.
class NumberedErrors {
 public:
  void add(std::uint32_t id, Status status, std::string_view text);
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  // {"errors":{"0":"...","10":"..."}}, ascending by number. There must be at least one.
  [[nodiscard]] Refusal refusal() const;

 private:
  Status status_ = Status::ok;
  std::map<std::uint32_t, std::string> texts_;
};

// For clients: the message in the body of an answer that is not 200, as one line for a person, bounded and printable.
// Takes any body.
std::string refusal_text(std::string_view body);
// The messages of {"errors":{...}} by number; empty if the body has another form.
std::optional<std::map<std::uint32_t, std::string>> numbered_errors(std::string_view body);

}  // namespace zeus::protocol
