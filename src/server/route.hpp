// The service's table of operations: for each its method and path, the scope that a token needs, its parameters, and
// the records of its body and answers. Requests are dispatched and checked by this table, and the OpenAPI document and
// docs/http.md are written from it, so they always agree. Plain values; any thread.
//
// An operation is a plain function that runs on a worker's thread:
//
//   BegunRecurrence begin(Service& service, const Call& call, const BeginRecurrence& body);
//
// The table lists what it takes and returns. What it throws becomes a problem (problem.hpp).
#pragma once

#include "protocol/error_body.hpp"
#include "protocol/scopes.hpp"
#include "records/json_reader.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"
#include "server/problem.hpp"
#include "service/access.hpp"
#include "service/call.hpp"
#include "transport/http.hpp"
#include "transport/long_body.hpp"
#include "transport/server.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::server {

using service::Call;
using service::SharedCall;
using service::Visitor;

struct Service;

struct Parameter {
  enum class Place { path, query, header };

  std::string_view name;
  Place place = Place::query;
  records::JsonSchema schema;  // of a string, a word, an integer or a boolean
  std::string_view help;
  bool required = false;
};

// A status with which an operation answers on success.
struct Outcome {
  int status = 200;
  std::string_view meaning;
  std::string_view type = protocol::json_type;  // empty if there is no body
  records::SharedSchema schema = {};            // null if the body is plain text
};

// Results other than records, which are answered with 200.
template <typename Record>
struct Created {  // 201
  Record body;
};
template <typename Record>
struct Made {  // 201 if it is new, otherwise 200
  Record body;
  bool is_new = false;
};
struct Nothing {};  // 204
struct Text {       // 200
  std::string body;
};

struct Route {
  using Work = std::function<transport::Answer(Service&, const Call&)>;
  // For an answer that comes later, or has no end: called on the loop's thread, and must return soon. Any thread may
  // answer or refuse the call.
  using Stream = void (*)(Service&, const SharedCall&);

  std::string_view id;  // "beginRecurrence"
  std::string_view method;
  std::string_view path;  // "/api/v1/jobs/{job}/recurrences"
  service::Needs needs;
  std::string_view summary;
  std::vector<Parameter> parameters;
  records::SharedSchema body = {};  // null if there is none
  std::string_view body_type = protocol::json_type;
  std::vector<Outcome> outcomes;
  Work work;
  Stream stream = nullptr;  // in place of `work`
  // The job it is about, found first: requests about one job run one after another. By default the parameter `job` of
  // the path.
  std::function<std::string(const Call&)> job_of = {};
  // How it is refused: by default as application/problem+json.
  std::function<transport::Answer(const Error&)> refuse = {};
  records::SharedSchema refusal = {};  // the body of `refuse`, if it has another form
  // If false, the operation itself checks the query and the body's type.
  bool checks_query = true;
  // Runs on the loop's thread without a worker; it must never wait.
  bool at_once = false;
  // A request without an answer after this time is refused with 503.
  std::optional<Seconds> patience = {};
  std::size_t longest_body = std::size_t{1} << 20;
};

// How an invalid body is refused.
inline constexpr records::JsonForm body_form{.refusal = "this is not a body that this operation takes",
                                             .advice = "docs/http.md and /api/v1/openapi.json describe it"};

template <typename Body>
Body read_body(const Call& call) {
  const transport::Request& request = call.request();
  const std::string in_file = request.long_body ? request.long_body->whole() : std::string{};
  try {
    return records::record_from_json<Body>(request.long_body ? in_file : request.body, body_form);
  } catch (const Error& error) {
    throw Error{ErrorKind::invalid_argument, error.message(), error.advice()};
  }
}

// Builds routes from their operations.

transport::Answer json_answer(int status, std::string body);

template <typename Result>
struct Returns {
  static std::vector<Outcome> outcomes() {
    return {{.status = 200, .meaning = "done", .schema = records::shared_schema<Result>()}};
  }
  static transport::Answer answer(const Result& result, std::string_view /*type*/) {
    return json_answer(200, records::json_line(result));
  }
};
template <typename Record>
struct Returns<Created<Record>> {
  static std::vector<Outcome> outcomes() {
    return {{.status = 201, .meaning = "made", .schema = records::shared_schema<Record>()}};
  }
  static transport::Answer answer(const Created<Record>& result, std::string_view /*type*/) {
    return json_answer(201, records::json_line(result.body));
  }
};
template <typename Record>
struct Returns<Made<Record>> {
  static std::vector<Outcome> outcomes() {
    return {{.status = 201, .meaning = "made", .schema = records::shared_schema<Record>()},
            {.status = 200, .meaning = "it existed already", .schema = records::shared_schema<Record>()}};
  }
  static transport::Answer answer(const Made<Record>& result, std::string_view /*type*/) {
    return json_answer(result.is_new ? 201 : 200, records::json_line(result.body));
  }
};
template <>
struct Returns<Nothing> {
  static std::vector<Outcome> outcomes() { return {{.status = 204, .meaning = "done", .type = {}}}; }
  static transport::Answer answer(const Nothing& /*result*/, std::string_view /*type*/) {
    return {.status = 204, .headers = {}, .body = {}};
  }
};
template <>
struct Returns<Text> {
  static std::vector<Outcome> outcomes() { return {{.status = 200, .meaning = "done"}}; }
  static transport::Answer answer(const Text& result, std::string_view type) {
    return {.status = 200, .headers = {{"Content-Type", std::string{type}}}, .body = result.body};
  }
};

// The properties of a route beside the types of its operation.
struct Operation {
  std::string_view id;
  std::string_view method;
  std::string_view path;
  service::Needs needs;
  std::string_view summary;
  std::vector<Parameter> parameters = {};
  std::string_view text_type = {};  // for an operation that returns Text
};

template <typename Result>
Route route(const Operation& operation, Result (*work)(Service&, const Call&)) {
  Route route{.id = operation.id,
              .method = operation.method,
              .path = operation.path,
              .needs = operation.needs,
              .summary = operation.summary,
              .parameters = operation.parameters,
              .outcomes = Returns<Result>::outcomes(),
              .work = [work, type = operation.text_type](Service& service, const Call& call) {
                return Returns<Result>::answer(work(service, call), type);
              }};
  if (!operation.text_type.empty()) {
    route.outcomes.front().type = operation.text_type;
  }
  return route;
}

template <typename Result, typename Body>
Route route(const Operation& operation, Result (*work)(Service&, const Call&, const Body&)) {
  Route route{.id = operation.id,
              .method = operation.method,
              .path = operation.path,
              .needs = operation.needs,
              .summary = operation.summary,
              .parameters = operation.parameters,
              .body = records::shared_schema<Body>(),
              .outcomes = Returns<Result>::outcomes(),
              .work = [work](Service& service, const Call& call) {
                return Returns<Result>::answer(work(service, call, read_body<Body>(call)), {});
              }};
  return route;
}

// All routes.
std::vector<Route> all_routes();

// Those of the service itself, and of /api/v1.
std::vector<Route> service_routes();
std::vector<Route> job_routes();
std::vector<Route> recurrence_routes();
std::vector<Route> overview_routes();
std::vector<Route> existing_routes();
std::vector<Route> pipeline_routes();

}  // namespace zeus::server
