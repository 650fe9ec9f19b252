// The answers to failed requests: the one place where failures become statuses. Pure functions; any thread.
#pragma once

#include "service/refusal.hpp"
#include "transport/http.hpp"

#include <zeus/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::server {

inline constexpr std::string_view problem_type = "application/problem+json";

// Statuses of refusals.
inline constexpr int forbidden = 403;
inline constexpr int not_found = 404;

using service::Refusal;

// Failures of the store are the service's own and not the client's fault: 503 if a retry may succeed.
int status_of(const Error& error);

// The part of an Error that a client may see: nothing about this machine's files or SQL.
struct ShownError {
  std::string detail;
  std::string advice;  // may be empty
};
ShownError shown(const Error& error);

transport::Answer problem(int status, std::string_view kind, std::string_view detail, std::string_view advice = {});
transport::Answer problem(const Error& error);
// For input that was refused before it was a valid request.
transport::Answer refused_request(int status, std::string_view reason);

}  // namespace zeus::server
