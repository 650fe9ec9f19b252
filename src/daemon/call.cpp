#include "daemon/call.hpp"

#include "protocol/event_stream.hpp"

#include <utility>

namespace zeus::daemon {

using protocol::Status;

bool Call::read_query(std::initializer_list<protocol::Parameter> parameters) {
  if (const std::optional<protocol::QueryError> wrong = protocol::read_query(request().query, parameters)) {
    refuse(protocol::refusal(*wrong));
    return false;
  }
  return true;
}

void Call::send(int status, std::string_view type, std::string body) {
  if (is_answered_) {
    return;
  }
  is_answered_ = true;
  answered_(status, body);
  transport::Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  if (!type.empty()) {
    answer.headers.add("content-type", std::string{type});
  }
  if (status == static_cast<int>(Status::unauthorized)) {
    answer.headers.add("www-authenticate", R"(Bearer realm="zeusd")");
  }
  if (status == static_cast<int>(Status::too_many) || status == static_cast<int>(Status::stuck)) {
    answer.headers.add("retry-after", "1");
  }
  exchange_->answer(std::move(answer));
}

void Call::answer(std::string body, std::string_view type) {
  send(static_cast<int>(Status::ok), type, std::move(body));
}

void Call::done() {
  send(static_cast<int>(Status::ok), {}, {});
}

void Call::refuse(const protocol::Refusal& refusal) {
  send(static_cast<int>(refusal.status), refusal.body.empty() ? std::string_view{} : refusal.content_type,
       refusal.body);
}

void Call::refuse(const Refusals& refusals) {
  protocol::NumberedErrors errors;
  for (const auto& [gpu, refused] : refusals) {
    errors.add(static_cast<std::uint32_t>(gpu), refused.status, refused.text);
  }
  refuse(errors.refusal());
}

std::shared_ptr<transport::Stream> Call::stream() {
  is_answered_ = true;
  answered_(static_cast<int>(Status::ok), {});
  transport::Headers headers;
  headers.add("content-type", std::string{protocol::event_stream_type});
  headers.add("cache-control", "no-cache");
  return exchange_->stream(static_cast<int>(Status::ok), std::move(headers));
}

}  // namespace zeus::daemon
