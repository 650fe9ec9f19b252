#include "server/api.hpp"

#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/wall_time_text.hpp"
#include "protocol/query.hpp"
#include "records/json_writer.hpp"
#include "server/event_hub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace zeus::server {

namespace {

constexpr int not_allowed = 405;
constexpr int unsupported_type = 415;
constexpr std::size_t most_shown = 200;
constexpr std::size_t longest_text = 1024;

// Leaves out the first one, which is empty.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> all;
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    all.push_back(path.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

bool is_parameter(std::string_view segment) {
  return segment.starts_with('{');
}

bool fits(std::string_view form, std::string_view path) {
  if (path.empty() || path.front() != '/') {
    return false;
  }
  const std::vector<std::string_view> forms = segments_of(form);
  return std::ranges::equal(forms, segments_of(path), [](std::string_view wanted, std::string_view given) {
    return is_parameter(wanted) ? !given.empty() : wanted == given;
  });
}

// In a path, "+" is an ordinary letter.
std::optional<std::string> decoded_segment(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    letter == '+' ? escaped += "%2B" : escaped += letter;
  }
  return protocol::percent_decoded(escaped);
}

bool is_utf8(std::string_view text) {
  records::JsonWriter json;
  json.value(text);
  const std::optional<records::JsonValue> read = records::JsonValue::parse(json.take());
  return read && read->string() != nullptr && *read->string() == text;
}

Error wrong(std::string_view name, std::string_view expected) {
  return {ErrorKind::invalid_argument, fmt::format("the parameter '{}' is not {}", name, expected),
          "docs/http.md has the parameters of each operation"};
}

void check_number(const Parameter& parameter, std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && rest == text.data() + text.size() && !text.empty();
  const auto value = static_cast<double>(number);
  if (!whole || value < parameter.schema.least.value_or(0.0) ||
      (parameter.schema.most && value > *parameter.schema.most)) {
    throw wrong(parameter.name, parameter.schema.most
                                    ? fmt::format("a whole number from {} to {}", parameter.schema.least.value_or(0.0),
                                                  *parameter.schema.most)
                                    : fmt::format("a whole number from {}", parameter.schema.least.value_or(0.0)));
  }
}

void check_parameter(const Parameter& parameter, std::string_view text) {
  using Kind = records::JsonSchema::Kind;
  switch (parameter.schema.kind) {
    case Kind::whole:
      check_number(parameter, text);
      break;
    case Kind::boolean:
      if (text != "true" && text != "false") {
        throw wrong(parameter.name, "true or false");
      }
      break;
    case Kind::word:
      if (std::ranges::find(parameter.schema.words, text) == parameter.schema.words.end()) {
        throw wrong(parameter.name, fmt::format("one of {}", fmt::join(parameter.schema.words, ", ")));
      }
      break;
    default: {
      const std::size_t longest = parameter.schema.longest.value_or(longest_text);
      const auto control = [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; };
      if (text.empty() || text.size() > longest || std::ranges::any_of(text, control) || !is_utf8(text)) {
        throw wrong(parameter.name, fmt::format("a string of 1 to {} bytes of printable UTF-8", longest));
      }
    }
  }
}

const Parameter* find_parameter(const Route& route, Parameter::Place place, std::string_view name) {
  const auto found = std::ranges::find_if(route.parameters,
                                          [&](const Parameter& one) { return one.place == place && one.name == name; });
  return found == route.parameters.end() ? nullptr : &*found;
}

void read_path(const Route& route, Call& call) {
  const std::vector<std::string_view> forms = segments_of(route.path);
  const std::vector<std::string_view> given = segments_of(call.request().path);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!is_parameter(forms[i])) {
      continue;
    }
    const std::string_view name = forms[i].substr(1, forms[i].size() - 2);
    std::optional<std::string> value = decoded_segment(given[i]);
    if (!value) {
      throw wrong(name, "percent-encoded");
    }
    if (const Parameter* const parameter = find_parameter(route, Parameter::Place::path, name)) {
      check_parameter(*parameter, *value);
    }
    call.set(name, std::move(*value));
  }
}

void read_query(const Route& route, Call& call) {
  std::string_view rest = call.request().query;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<std::string> name = protocol::percent_decoded(pair.substr(0, equals));
    std::optional<std::string> value = protocol::percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    const Parameter* const parameter = name ? find_parameter(route, Parameter::Place::query, *name) : nullptr;
    if (parameter == nullptr) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("there is no parameter '{}' here",
                              shortened(printable(name.value_or(std::string{pair})), most_shown)),
                  "docs/http.md has the parameters of each operation"};
    }
    if (call.find(*name)) {
      throw wrong(*name, "given once");
    }
    if (!value) {
      throw wrong(*name, "percent-encoded");
    }
    check_parameter(*parameter, *value);
    call.set(*name, std::move(*value));
  }
}

void read_headers(const Route& route, Call& call) {
  for (const Parameter& parameter : route.parameters) {
    if (parameter.place == Parameter::Place::header) {
      if (const auto value = call.request().headers.get(parameter.name)) {
        check_parameter(parameter, *value);
        call.set(parameter.name, std::string{*value});
      }
    }
  }
}

// Compares without parameters: "application/json; charset=utf-8".
bool is_type(std::string_view given, std::string_view wanted) {
  std::string_view type = given.substr(0, given.find(';'));
  while (type.ends_with(' ')) {
    type.remove_suffix(1);
  }
  return transport::same_name(type, wanted);
}

void check_type(const Route& route, const transport::Request& request) {
  const auto type = request.headers.get("content-type");
  if (type && !is_type(*type, route.body_type)) {
    throw Refusal{unsupported_type, ErrorKind::invalid_argument, fmt::format("the body is not {}", route.body_type),
                  "send it as that"};
  }
}

// Refuses frequent requests instead of queueing them.
Refusal too_busy() {
  return {503, ErrorKind::unavailable, "too many requests wait here", "ask again in a moment"};
}

// Made once, because it holds the schemas of all bodies.
const std::vector<Route>& table() {
  static const std::vector<Route> routes = all_routes();
  return routes;
}

}  // namespace

void read_parameters(const Route& route, Call& call) {
  read_path(route, call);
  if (!route.checks_query) {
    return;
  }
  read_query(route, call);
  read_headers(route, call);
  for (const Parameter& parameter : route.parameters) {
    if (parameter.required && !call.find(parameter.name)) {
      throw Error{ErrorKind::invalid_argument, fmt::format("the parameter '{}' is missing", parameter.name),
                  "docs/http.md has the parameters of each operation"};
    }
  }
}

Api::Api(transport::EventLoop& loop, Service& service, transport::Workers& workers, Clock& clock, LogWriter* log,
         Answered answered)
    : loop_{loop},
      service_{service},
      workers_{workers},
      clock_{clock},
      log_{log},
      answered_{std::move(answered)},
      routes_{table()} {
}

const Route* Api::match(std::string_view method, std::string_view path, std::vector<std::string>* allowed) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : routes_) {
    if (fits(route.path, path)) {
      if (route.method == wanted) {
        return &route;
      }
      if (allowed != nullptr) {
        allowed->emplace_back(route.method);
      }
    }
  }
  return nullptr;
}

std::size_t Api::longest_body(std::string_view method, std::string_view target) const {
  const Route* const route = match(method, target.substr(0, target.find('?')), nullptr);
  return route == nullptr ? std::size_t{1} << 20 : route->longest_body;
}

void Api::note(const Asked& asked, int status) const {
  const Seconds took = clock_.now() - asked.began;
  const std::string_view name = asked.route == nullptr ? std::string_view{"other"} : asked.route->id;
  answered_(name, status, took);
  if (log_ == nullptr) {
    return;
  }
  const transport::Request& request = asked.exchange->request();
  const transport::Peer& peer = asked.exchange->peer();
  records::JsonWriter json;
  json.object([&] {
    json.put("time", to_text(clock_.wall()));
    json.put("method", shortened(printable(request.method), most_shown));
    json.put("path", shortened(printable(request.path), most_shown));
    json.put("operation", name);
    json.put("status", status);
    json.put("took_s", std::round(took.value() * 1e6) / 1e6);
    json.put("user", asked.user);
    json.put("from", peer.local ? fmt::format("user {}", peer.local->user) : peer.address);
  });
  log_->write(json.take());
}

void Api::answer(const Asked& asked, transport::Answer answer) const {
  const int status = answer.status;
  asked.exchange->answer(std::move(answer));
  note(asked, status);
}

void Api::handle(std::shared_ptr<transport::Exchange> exchange) {
  Asked asked{.exchange = std::move(exchange), .route = nullptr, .user = {}, .began = clock_.now()};
  try {
    admit(asked);
  } catch (const Error& error) {
    transport::Answer refusal = asked.route == nullptr ? problem(error) : asked.route->refuse(error);
    if (refusal.status == 401) {
      refusal.headers.add("WWW-Authenticate", "Bearer realm=\"zeus\"");
    }
    answer(asked, std::move(refusal));
  }
}

void Api::admit(Asked& asked) {
  const transport::Request& request = asked.exchange->request();
  if (std::optional<Refusal> other_site = refuse_other_sites(request, asked.exchange->peer(), access_)) {
    throw std::move(*other_site);
  }
  std::vector<std::string> allowed;
  const Route* const route = match(request.method, request.path, &allowed);
  if (route == nullptr && !allowed.empty()) {
    transport::Answer refusal =
        problem(Refusal{not_allowed, ErrorKind::invalid_argument, "that path does not have this method",
                        fmt::format("it has {}", fmt::join(allowed, " and "))});
    refusal.headers.add("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
    answer(asked, std::move(refusal));
    return;
  }
  if (route == nullptr) {
    throw Refusal{not_found, ErrorKind::not_found, "there is nothing at that path",
                  "/api/v1/openapi.json lists all paths"};
  }
  asked.route = route;
  Visitor visitor;
  if (route->scope) {
    visitor = identify(request, access_, clock_.wall());
    asked.user = visitor.user;
    require(visitor, *route->scope);
  }
  auto call = std::make_shared<Call>(request, std::move(visitor));
  read_parameters(*route, *call);
  if (route->body && route->checks_query) {
    check_type(*route, request);
  }
  if (route->stream) {
    route->stream(service_, *call, asked.exchange,
                  {.began = [this, asked] { note(asked, 200); },
                   .refused = [this, asked](const Error& error) { answer(asked, problem(error)); },
                   .may_go_on = [this, asked] { return may_go_on(asked); }});
    return;
  }
  const std::string about = route->job_of ? route->job_of(*call) : call->find("job").value_or("");
  if (route->at_once) {
    work_for(asked, *call, about);
    return;
  }
  if (route->patience) {
    lose_patience(asked, *route->patience);
  }
  const bool taken = workers_.add(about, [this, asked, call, about] {
    // The client is gone, and nothing of it was begun.
    if (asked.exchange->is_abandoned()) {
      note(asked, 499);
      return;
    }
    work_for(asked, *call, about);
  });
  if (!taken) {
    throw too_busy();
  }
}

bool Api::may_go_on(const Asked& asked) const {
  try {
    require(identify(asked.exchange->request(), access_, clock_.wall()), *asked.route->scope);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Api::work_for(const Asked& asked, const Call& call, const std::string& about) const {
  try {
    answer(asked, asked.route->work(service_, call));
    if (!about.empty() && service_.events.readers() > 0) {
      service_.events.nudge(about);
    }
  } catch (const Error& error) {
    if (status_of(error) >= 500) {
      log::error(fmt::format("{}: {}", asked.route->id, error.what()));
    }
    answer(asked, asked.route->refuse(error));
  } catch (const std::exception& failure) {
    log::error(fmt::format("{}: {}", asked.route->id, failure.what()));
    answer(asked, asked.route->refuse(Error{ErrorKind::internal, failure.what()}));
  }
}

void Api::lose_patience(const Asked& asked, Seconds patience) {
  const auto here = limits_.emplace(limits_.end());
  *here = loop_.after(patience, [this, here, waiting = std::weak_ptr{asked.exchange}, refuse = asked.route->refuse] {
    // Only the first answer counts.
    if (const auto exchange = waiting.lock()) {
      exchange->answer(refuse(Error{ErrorKind::timeout, "the store did not answer in time"}));
    }
    limits_.erase(here);
  });
}

}  // namespace zeus::server
