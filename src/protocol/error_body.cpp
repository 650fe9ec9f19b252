#include "protocol/error_body.hpp"

#include "base/printable.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace zeus::protocol {

namespace {

constexpr std::size_t most_of_a_refusal = 500;

std::optional<std::uint32_t> number_of(const std::string& key) {
  std::uint32_t number = 0;
  const char* const end = key.data() + key.size();
  const auto [rest, error] = std::from_chars(key.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional{number} : std::nullopt;
}

}  // namespace

Status status_of(Reason reason) {
  switch (reason) {
    case Reason::unsupported:
    case Reason::out_of_range:
      return Status::bad_request;
    case Reason::permission:
      return Status::forbidden;
    case Reason::timeout:
      return Status::timeout;
    case Reason::lost:
    case Reason::unreliable:
    case Reason::unknown:
      break;
  }
  return Status::internal;
}

Status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return Status::bad_request;
    case ErrorKind::permission_denied:
      return Status::forbidden;
    case ErrorKind::not_found:
      return Status::not_found;
    case ErrorKind::already_exists:
    case ErrorKind::conflict:
      return Status::conflict;
    case ErrorKind::timeout:
      return Status::timeout;
    case ErrorKind::unavailable:
    case ErrorKind::corrupt_data:
    case ErrorKind::internal:
      break;
  }
  return Status::internal;
}

std::string error_body(std::string_view text) {
  records::JsonWriter json;
  json.object([&] { json.put("error", text); });
  return json.take();
}

Refusal refusal(Status status, std::string_view text) {
  return {.status = status, .content_type = json_type, .body = error_body(text)};
}

Refusal text_refusal(Status status, std::string_view text) {
  return {.status = status, .content_type = text_type, .body = std::string{text}};
}

Refusal refusal(const Error& error) {
  return refusal(status_of(error.kind()),
                 error.advice().empty() ? error.message() : error.message() + ": " + error.advice());
}

void NumberedErrors::add(std::uint32_t id, Status status, std::string_view text) {
  status_ = std::max(status_, status);
  texts_.insert_or_assign(id, std::string{text});
}

Refusal NumberedErrors::refusal() const {
  if (empty()) {
    throw Error{ErrorKind::internal, "there is no error to refuse a request for"};
  }
  records::JsonWriter json;
  json.object([&] {
    json.put("errors", [&] {
      for (const auto& [id, text] : texts_) {
        json.put(std::to_string(id), text);
      }
    });
  });
  return {.status = status_, .content_type = json_type, .body = json.take()};
}

std::optional<std::map<std::uint32_t, std::string>> numbered_errors(std::string_view body) {
  const std::optional<records::JsonValue> json = records::JsonValue::parse(body);
  const records::JsonValue* const errors = json ? json->find("errors") : nullptr;
  if (errors == nullptr || errors->object() == nullptr) {
    return std::nullopt;
  }
  std::map<std::uint32_t, std::string> texts;
  for (const records::JsonValue::Member& member : *errors->object()) {
    const std::optional<std::uint32_t> number = number_of(member.key);
    if (!number || member.value.string() == nullptr) {
      return std::nullopt;
    }
    texts.emplace(*number, *member.value.string());
  }
  return texts;
}

std::string refusal_text(std::string_view body) {
  std::string text;
  if (const auto errors = numbered_errors(body)) {
    for (const auto& [number, error] : *errors) {
      text += (text.empty() ? "" : "; ") + std::to_string(number) + ": " + error;
    }
  } else if (const std::optional<records::JsonValue> json = records::JsonValue::parse(body)) {
    if (const records::JsonValue* const error = json->find("error"); error != nullptr && error->string() != nullptr) {
      text = *error->string();
    }
  }
  if (text.empty()) {
    text = body;
  }
  return shortened(printable(text), most_of_a_refusal);
}

}  // namespace zeus::protocol
