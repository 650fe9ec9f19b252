// The table of what the service answers to: for each operation its method and path, the scope that a token needs, its
// parameters, and the records of its body and answers. Requests are dispatched and checked by it, and the OpenAPI
// document and docs/http.md are written from it, so that these cannot differ. Plain values; any thread.
//
// An operation is a plain function that runs on a worker's thread:
//
//   BegunRecurrence begin(Service& service, const Call& call, const BeginRecurrence& body);
//
// What it takes and returns is what the table says of it. What it throws becomes a problem (problem.hpp).
#pragma once

#include "protocol/error_body.hpp"
#include "protocol/scopes.hpp"
#include "records/json_reader.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"
#include "server/call.hpp"
#include "server/problem.hpp"
#include "transport/http.hpp"
#include "transport/server.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::server {

struct Service;

struct Parameter {
  enum class Place { path, query, header };

  std::string_view name;
  Place place = Place::query;
  records::JsonSchema schema;  // of a text, a word, a whole number or a boolean
  std::string_view help;
  bool required = false;
};

// One status that an operation answers with when it has done what was asked.
struct Outcome {
  int status = 200;
  std::string_view meaning;
  std::string_view type = protocol::json_type;  // nothing where there is no body
  records::SharedSchema schema = {};            // null where the body is a text
};

// Results of operations beside records, which are answered 200.
template <typename Record>
struct Created {  // 201
  Record body;
};
template <typename Record>
struct Made {  // 201 where it is new, else 200
  Record body;
  bool is_new = false;
};
struct Nothing {};  // 204
struct Text {       // 200
  std::string body;
};

// Whom a stream tells that it has begun, or that it is refused.
struct StreamTold {
  std::function<void()> began;
  std::function<void(const Error&)> refused;
};

struct Route {
  using Work = std::function<transport::Answer(Service&, const Call&)>;
  // Of an answer without an end: called on the loop's thread, and returns soon; says whether it has begun, from
  // whatever thread and whenever it knows.
  using Stream = void (*)(Service&, const Call&, const std::shared_ptr<transport::Exchange>&, const StreamTold& told);

  std::string_view id;  // "beginRecurrence"
  std::string_view method;
  std::string_view path;                 // "/api/v1/jobs/{job}/recurrences"
  std::optional<protocol::Scope> scope;  // nothing: for everybody
  std::string_view summary;
  std::vector<Parameter> parameters;
  records::SharedSchema body = {};  // null where there is none
  std::string_view body_type = protocol::json_type;
  std::vector<Outcome> outcomes;
  Work work;
  Stream stream = nullptr;  // in place of `work`
  // The job that it is about, before all else: those of one job are done one after the other. By default the
  // parameter `job` of the path.
  std::function<std::string(const Call&)> job_of = {};
  // How it is refused: by default as application/problem+json.
  std::function<transport::Answer(const Error&)> refuse = [](const Error& error) { return problem(error); };
  records::SharedSchema refusal = {};  // what that answers, where it is something else
  // Otherwise the query and the body's type are its own affair.
  bool checks_query = true;
  // Done on the loop's thread, without waiting for a worker: only what waits for nothing.
  bool at_once = false;
  // After so long without an answer it is refused: 503.
  std::optional<Seconds> patience = {};
  std::size_t longest_body = std::size_t{1} << 20;
};

// How a body is refused that is not what it should be.
inline constexpr records::JsonForm body_form{.refusal = "this is not a body that is taken here",
                                             .advice = "send what docs/http.md and /api/v1/openapi.json say"};

template <typename Body>
Body read_body(const Call& call) {
  try {
    return records::record_from_json<Body>(call.body(), body_form);
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
            {.status = 200, .meaning = "it was there already", .schema = records::shared_schema<Record>()}};
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

// What a route is, beside what its operation's type says.
struct Operation {
  std::string_view id;
  std::string_view method;
  std::string_view path;
  std::optional<protocol::Scope> scope;
  std::string_view summary;
  std::vector<Parameter> parameters = {};
  std::string_view text_type = {};  // of an operation that returns Text
};

template <typename Result>
Route route(const Operation& operation, Result (*work)(Service&, const Call&)) {
  Route route{.id = operation.id,
              .method = operation.method,
              .path = operation.path,
              .scope = operation.scope,
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
              .scope = operation.scope,
              .summary = operation.summary,
              .parameters = operation.parameters,
              .body = records::shared_schema<Body>(),
              .outcomes = Returns<Result>::outcomes(),
              .work = [work](Service& service, const Call& call) {
                return Returns<Result>::answer(work(service, call, read_body<Body>(call)), {});
              }};
  return route;
}

// All there is.
std::vector<Route> all_routes();

// Of the service itself, and of /api/v1.
std::vector<Route> service_routes();
std::vector<Route> job_routes();
std::vector<Route> recurrence_routes();
std::vector<Route> overview_routes();
std::vector<Route> existing_routes();

}  // namespace zeus::server
