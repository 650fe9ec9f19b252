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

constexpr int unsupported_type = 415;
constexpr std::size_t most_shown = 200;
constexpr std::size_t longest_text = 1024;

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
  const std::vector<std::string_view> forms = service::segments_of(route.path);
  const std::vector<std::string_view> given = service::segments_of(call.request().path);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!service::is_parameter(forms[i])) {
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
      operations_{table()},
      access_{.names = service::Access::Names::without_tokens},
      front_{
          clock,
          door,
          access_,
          routes(),
          [](const Error& error) { return problem(error); },
          [this](const Call& call, int status, std::string_view /*body*/, Seconds took) { note(call, status, took); }} {
}

std::vector<service::Route> Api::routes() {
  std::vector<service::Route> all;
  for (const Route& one : operations_) {
    all.push_back({.name = one.id,
                   .method = one.method,
                   .path = one.path,
                   .needs = one.needs,
                   .handler = [this, &one](const SharedCall& call) { begin(one, call); },
                   .refuse = one.refuse,
                   .longest_body = one.longest_body,
                   .takes_head = one.method == "GET"});
  }
  return all;
}

void Api::note(const Call& call, int status, Seconds took) const {
  answered_(call.route_name(), status, took);
  if (log_ == nullptr) {
    return;
  }
  const transport::Request& request = call.request();
  const transport::Peer& peer = call.peer();
  records::JsonWriter json;
  json.object([&] {
    json.put("time", to_text(clock_.wall()));
    json.put("method", shortened(printable(request.method), most_shown));
    json.put("path", shortened(printable(request.path), most_shown));
    json.put("operation", call.route_name());
    json.put("status", status);
    json.put("took_s", std::round(took.value() * 1e6) / 1e6);
    json.put("user", call.visitor().user);
    json.put("from", peer.local ? fmt::format("user {}", peer.local->user) : peer.address);
  });
  log_->write(json.take());
}

void Api::begin(const Route& route, const SharedCall& call) {
  read_parameters(route, *call);
  if (route.body && route.checks_query) {
    check_type(route, call->request());
  }
  if (route.stream != nullptr) {
    route.stream(service_, call);
    return;
  }
  const std::string about = route.job_of ? route.job_of(*call) : call->find("job").value_or("");
  if (route.at_once) {
    work_for(route, *call, about);
    return;
  }
  if (route.patience) {
    lose_patience(call, *route.patience);
  }
  const bool taken = workers_.add(about, [this, &route, call, about] {
    if (call->is_abandoned()) {
      call->leave();
      return;
    }
    work_for(route, *call, about);
  });
  if (!taken) {
    throw too_busy();
  }
}

void Api::work_for(const Route& route, Call& call, const std::string& about) const {
  try {
    call.answer(route.work(service_, call));
    if (!about.empty() && service_.events.readers() > 0) {
      service_.events.nudge(about);
    }
  } catch (const Error& error) {
    if (status_of(error) >= 500) {
      log::error(fmt::format("{}: {}", route.id, error.what()));
    }
    call.refuse(error);
  } catch (const std::exception& failure) {
    call.fail(failure);
  }
}

void Api::lose_patience(const SharedCall& call, Seconds patience) {
  const auto here = limits_.emplace(limits_.end());
  *here = loop_.after(patience, [this, here, waiting = std::weak_ptr{call}] {
    // Only the first answer counts.
    if (const auto still = waiting.lock()) {
      still->refuse(Error{ErrorKind::timeout, "the store did not answer in time"});
    }
    limits_.erase(here);
  });
}

}  // namespace zeus::server
