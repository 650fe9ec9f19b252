#include "remote_jobs/service_client.hpp"

#include "protocol/query.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace zeus::remote_jobs {

namespace {

constexpr std::size_t longest_answer = std::size_t{1} << 30;  // for an export

transport::ClientPlan plan_of(const ServerAddress& address, std::string_view token, Seconds answer_time) {
  return {.server = address.endpoint,
          .token = address.token.empty() ? std::string{token} : address.token,
          .connect_time = Seconds{5},
          .answer_time = answer_time,
          .longest_answer = longest_answer,
          .channel = address.authorities ? address.authorities->channel_to(address.endpoint.host_port)
                                         : transport::ChannelOver{}};
}

ErrorKind kind_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return ErrorKind::permission_denied;
    case 404:
      return ErrorKind::not_found;
    case 409:
      return ErrorKind::conflict;
    case 504:
      return ErrorKind::timeout;
    default:
      return status >= 500 || status == 408 || status == 429 ? ErrorKind::unavailable : ErrorKind::invalid_argument;
  }
}

// A server of the same version knows every path and key that this program sends, and misses none. Not the user's
// mistake, so a training goes on without it. Empty if nothing shows which of the two is older.
std::optional<Error> refusal_of_another_version(int status, const std::string& why, const std::string& server) {
  const bool is_unknown_path = (status == 404 && why == "there is nothing at that path") || status == 405;
  if (is_unknown_path || (status == 400 && why.find(": it has an unknown key '") != std::string::npos)) {
    return Error{ErrorKind::not_found, fmt::format("the server {} is older than this program: {}", server, why),
                 "update the server"};
  }
  if (status == 400 && why.find(": it has no '") != std::string::npos) {
    return Error{ErrorKind::not_found, fmt::format("this program is older than the server {}: {}", server, why),
                 "update this program"};
  }
  return std::nullopt;
}

Error refusal(const transport::Answer& answer, const std::string& server) {
  try {
    const auto problem = protocol::read_service_answer<protocol::Problem>(answer.body);
    if (std::optional<Error> other = refusal_of_another_version(answer.status, problem.detail, server)) {
      return *std::move(other);
    }
    // The service's advice is for programs that speak HTTP.
    return {kind_of(answer.status), problem.detail,
            answer.status == 401 ? "set ZEUS_TOKEN to a token that the server's administrator has issued for you"
                                 : problem.advice.value_or("")};
  } catch (const Error&) {
    // A proxy before the service may answer in its place. 400 is what one with TLS answers to a client without, whose
    // training goes on.
    const bool is_not_understood = answer.status == 400;
    return {is_not_understood ? ErrorKind::unavailable : kind_of(answer.status),
            fmt::format("{} answers {} {}", server, answer.status, transport::reason_of(answer.status)),
            is_not_understood ? "check that a Zeus server is there, and write https:// if it uses TLS"
                              : "check that a Zeus server is there, and what proxy is before it"};
  }
}

}  // namespace

std::string job_path(std::string_view job, std::string_view rest) {
  return fmt::format("/api/v1/jobs/{}{}", protocol::percent_encoded(job), rest);
}

ServiceClient::ServiceClient(ServerAddress address, std::string_view token, Seconds answer_time)
    : address_{std::move(address)}, client_{plan_of(address_, token, answer_time)} {
}

std::string ServiceClient::get_text(std::string_view path) {
  transport::Request request{.method = "GET"};
  request.path = path;
  return ask(std::move(request));
}

std::string ServiceClient::make(const Change& change) {
  transport::Request request{
      .method = change.method, .path = change.path, .query = {}, .headers = {}, .body = change.body};
  if (!change.body.empty()) {
    request.headers.add("Content-Type", change.type);
  }
  if (!change.key.empty()) {
    request.headers.add("Idempotency-Key", change.key);
  }
  return ask(std::move(request));
}

std::string ServiceClient::ask(transport::Request request) {
  if (const std::size_t query = request.path.find('?'); query != std::string::npos) {
    request.query = request.path.substr(query + 1);
    request.path.resize(query);
  }
  request.path.insert(0, address_.prefix);
  transport::Answer answer = client_.ask(request);
  if (answer.status < 200 || answer.status >= 300) {
    throw refusal(answer, address_.shown);
  }
  return std::move(answer.body);
}

bool is_passing(const Error& error) {
  return error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout ||
         error.kind() == ErrorKind::corrupt_data;
}

}  // namespace zeus::remote_jobs
