#include "service/call.hpp"

#include "base/log.hpp"
#include "base/printable.hpp"
#include "service/front.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace zeus::service {

using protocol::Status;

std::string_view Call::route_name() const {
  return route_ == nullptr ? other_route : route_->name;
}

bool Call::may_go_on() const {
  return front_.still_admits(*this);
}

std::optional<std::string> Call::find(std::string_view name) const {
  const auto known = texts_.find(std::string{name});
  return known == texts_.end() ? std::nullopt : std::optional{known->second};
}

std::optional<std::uint64_t> Call::find_number(std::string_view name) const {
  const std::optional<std::string> text = find(name);
  std::uint64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{}) {
    return std::nullopt;
  }
  return number;
}

bool Call::read_query(std::initializer_list<protocol::Parameter> parameters) {
  if (const std::optional<protocol::QueryError> wrong = protocol::read_query(request().query, parameters)) {
    refuse(protocol::refusal(*wrong));
    return false;
  }
  return true;
}

bool Call::is_first(int status, std::string_view body) {
  const bool is_first = !is_answered_.exchange(true);
  if (is_first) {
    front_.note(*this, status, body);
  }
  return is_first;
}

void Call::answer(transport::Answer answer) {
  if (is_first(answer.status, answer.body)) {
    exchange_->answer(std::move(answer));
  }
}

void Call::answer(std::string body, std::string_view type) {
  answer({.status = 200, .headers = {{"content-type", std::string{type}}}, .body = std::move(body)});
}

void Call::refuse(const Error& error) {
  answer(front_.refusal(route_, error));
}

void Call::refuse(const protocol::Refusal& refusal) {
  answer(answer_of(refusal));
}

void Call::fail(const std::exception& failure) {
  log::error(fmt::format("{}: {}", route_name(), printable(failure.what())));
  refuse(Error{ErrorKind::internal, "the request failed", "have the administrator look at the log"});
}

std::shared_ptr<transport::Stream> Call::stream(transport::Headers headers) {
  is_first(200, {});
  return exchange_->stream(200, std::move(headers));
}

void Call::leave() {
  constexpr int client_closed = 499;
  is_first(client_closed, {});
}

transport::Answer answer_of(const protocol::Refusal& refusal) {
  transport::Answer answer{.status = static_cast<int>(refusal.status), .headers = {}, .body = refusal.body};
  if (!refusal.body.empty()) {
    answer.headers.add("content-type", refusal.content_type);
  }
  if (refusal.status == Status::too_many || refusal.status == Status::stuck) {
    answer.headers.add("retry-after", "1");
  }
  return answer;
}

}  // namespace zeus::service
