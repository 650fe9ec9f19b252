#include "server/problem.hpp"

#include "jobs/job.hpp"
#include "protocol/jobs_api.hpp"
#include "records/json_writer.hpp"
#include "store/job_store.hpp"

#include <fmt/format.h>

namespace zeus::server {

namespace {

constexpr int unavailable = 503;

// Errors of a full, read-only, broken or newer store name its file or address.
bool is_the_stores(ErrorKind kind) {
  return kind == ErrorKind::unavailable || kind == ErrorKind::permission_denied || kind == ErrorKind::timeout ||
         kind == ErrorKind::corrupt_data || kind == ErrorKind::internal;
}

}  // namespace

int status_of(const Error& error) {
  if (const auto* const refusal = dynamic_cast<const Refusal*>(&error)) {
    return refusal->status();
  }
  if (dynamic_cast<const store::TooManyJobs*>(&error) != nullptr) {
    return forbidden;
  }
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
      return 400;
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::already_exists:
    case ErrorKind::conflict:
      return 409;
    case ErrorKind::unavailable:
    case ErrorKind::permission_denied:
    case ErrorKind::timeout:
      return unavailable;
    case ErrorKind::corrupt_data:
    case ErrorKind::internal:
      break;
  }
  return 500;
}

ShownError shown(const Error& error) {
  if (dynamic_cast<const Refusal*>(&error) != nullptr || !is_the_stores(error.kind())) {
    return {error.message(), error.advice()};
  }
  if (const auto* const unreadable = dynamic_cast<const jobs::UnreadableJob*>(&error)) {
    return {fmt::format("this job cannot be read: {}", unreadable->why()),
            "have the server's administrator put back a copy of its store, or forget the job"};
  }
  switch (error.kind()) {
    case ErrorKind::permission_denied:
      return {"the server may not write to its store", "have its administrator look at its log; nothing was recorded"};
    case ErrorKind::timeout:
      return {"the server's store did not answer in time", "ask again later, with the same Idempotency-Key"};
    case ErrorKind::corrupt_data:
      return {"the contents of the server's store cannot be read", "have its administrator look at its log"};
    case ErrorKind::internal:
      return {"the server failed", "have its administrator look at its log, and report what it says"};
    default:
      return {"the server's store cannot be used now", "ask again later, with the same Idempotency-Key"};
  }
}

transport::Answer problem(int status, std::string_view kind, std::string_view detail, std::string_view advice) {
  protocol::Problem body{.title = std::string{transport::reason_of(status)},
                         .status = static_cast<std::uint32_t>(status),
                         .kind = std::string{kind},
                         .detail = std::string{detail},
                         .advice = {}};
  if (!advice.empty()) {
    body.advice = advice;
  }
  transport::Answer answer{
      .status = status, .headers = {{"Content-Type", std::string{problem_type}}}, .body = records::json_line(body)};
  if (status == unavailable) {
    answer.headers.add("Retry-After", "1");
  }
  return answer;
}

transport::Answer problem(const Error& error) {
  const ShownError what = shown(error);
  return problem(status_of(error), to_string(error.kind()), what.detail, what.advice);
}

transport::Answer refused_request(int status, std::string_view reason) {
  const ErrorKind kind = status >= 500 ? ErrorKind::unavailable : ErrorKind::invalid_argument;
  return problem(status, to_string(kind), reason);
}

}  // namespace zeus::server
