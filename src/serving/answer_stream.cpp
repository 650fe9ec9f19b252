#include "serving/answer_stream.hpp"

#include "base/printable.hpp"
#include "records/json_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

namespace zeus::serving {

namespace {

constexpr std::size_t most_event_bytes = std::size_t{1} << 20U;
constexpr std::size_t most_detail_bytes = 200;
constexpr std::uint64_t most_tokens = 1'000'000'000;

using records::JsonValue;

std::optional<std::uint64_t> tokens_in(const JsonValue& usage, std::string_view key) {
  const JsonValue* const member = usage.find(key);
  const auto count = member != nullptr ? member->whole<std::uint64_t>() : std::nullopt;
  return count && *count <= most_tokens ? count : std::nullopt;
}

std::optional<Usage> usage_in(const JsonValue& event) {
  const JsonValue* const usage = event.find("usage");
  if (usage == nullptr) {
    return std::nullopt;
  }
  const auto output = tokens_in(*usage, "completion_tokens");
  if (!output) {
    return std::nullopt;
  }
  const JsonValue* const details = usage->find("completion_tokens_details");
  return Usage{.prompt_tokens = tokens_in(*usage, "prompt_tokens"),
               .output_tokens = *output,
               .reasoning_tokens = details != nullptr ? tokens_in(*details, "reasoning_tokens") : std::nullopt};
}

// The string of this key; empty if there is none.
std::string_view string_in(const JsonValue& object, std::string_view key) {
  const JsonValue* const member = object.find(key);
  const std::string* const text = member != nullptr ? member->string() : nullptr;
  return text != nullptr ? std::string_view{*text} : std::string_view{};
}

struct Heard {
  std::string text;
  bool is_output = false;  // text, or a call of a tool
};

// What one choice adds to the answer: of a chat it stands in `delta`, of a completion in `text`.
void hear(const JsonValue& choice, Heard& heard) {
  const JsonValue* const delta = choice.find("delta");
  const JsonValue& said = delta != nullptr ? *delta : choice;
  constexpr std::array<std::string_view, 5> keys{"content", "text", "reasoning_content", "reasoning", "refusal"};
  for (const std::string_view key : keys) {
    heard.text += string_in(said, key);
  }
  const JsonValue* const calls = said.find("tool_calls");
  heard.is_output = heard.is_output || !heard.text.empty() ||
                    (calls != nullptr && calls->list() != nullptr && !calls->list()->empty());
}

std::string message_of(const JsonValue& error) {
  if (error.string() != nullptr) {
    return *error.string();
  }
  const std::string_view message = string_in(error, "message");
  return message.empty() ? "it does not say which" : std::string{message};
}

// Null if there is none.
const JsonValue* error_in(const JsonValue& event) {
  const JsonValue* const error = event.find("error");
  return error == nullptr || error->is_null() ? nullptr : error;
}

}  // namespace

AnswerStream::AnswerStream(OnText on_text, std::size_t most_pieces)
    : on_text_{std::move(on_text)}, most_pieces_{most_pieces}, events_{most_event_bytes} {
}

void AnswerStream::fail(std::string_view kind, std::string_view detail) {
  if (answer_.failure.empty()) {
    answer_.failure = kind;
    answer_.detail = printable(shortened(detail, most_detail_bytes));
  }
}

void AnswerStream::read(std::string_view piece, Instant at) {
  try {
    events_.read(piece, [&](std::string_view data) {
      if (!is_done()) {
        take(data, at);
      }
    });
  } catch (const Error& error) {
    fail("not an event stream", error.message());
  }
}

void AnswerStream::end(Instant at) {
  answer_.ended = at;
  if (!done_ && answer_.finish_reason.empty()) {
    fail("broke off", "the stream ended before the answer did");
  }
  done_ = true;
}

void AnswerStream::take(std::string_view data, Instant at) {
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const std::optional<JsonValue> event = JsonValue::parse(data);
  if (!event || event->object() == nullptr) {
    fail("not JSON", data);
    return;
  }
  if (const JsonValue* const error = error_in(*event)) {
    fail("error in the stream", message_of(*error));
    return;
  }
  if (const auto usage = usage_in(*event)) {
    answer_.usage = usage;
  }
  const JsonValue* const choices = event->find("choices");
  if (choices == nullptr || choices->list() == nullptr) {
    return;
  }
  Heard heard;
  for (const JsonValue& choice : *choices->list()) {
    hear(choice, heard);
    if (const std::string_view reason = string_in(choice, "finish_reason"); !reason.empty()) {
      answer_.finish_reason = printable(shortened(reason, most_detail_bytes));
    }
  }
  if (heard.is_output) {
    if (answer_.arrivals.size() >= most_pieces_) {
      fail("too many pieces", fmt::format("more than {}, as of a server that does not end its answers", most_pieces_));
      return;
    }
    answer_.arrivals.push_back(at);
  }
  if (on_text_ && !heard.text.empty()) {
    on_text_(heard.text);
  }
}

std::string error_text(std::string_view body) {
  const std::optional<JsonValue> json = JsonValue::parse(body);
  if (json) {
    if (const JsonValue* const error = error_in(*json)) {
      return message_of(*error);
    }
    for (const std::string_view key : {"message", "detail"}) {
      if (const std::string_view text = string_in(*json, key); !text.empty()) {
        return std::string{text};
      }
    }
  }
  return std::string{body.substr(0, most_detail_bytes)};
}

}  // namespace zeus::serving
