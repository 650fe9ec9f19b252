// Reads one streamed answer of a server that speaks OpenAI's HTTP, in pieces that are cut anywhere: what arrived when,
// the server's own count of tokens, and how it ended. Whatever a server sends, it becomes an answer or a failure. One
// thread at a time.
#pragma once

#include "protocol/event_stream.hpp"
#include "serving/answer.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace zeus::serving {

class AnswerStream {
 public:
  // Receives the text of an answer as it comes.
  using OnText = std::function<void(std::string_view text)>;

  // Pieces of one answer are kept one by one, so that more than any model gives are a failure.
  static constexpr std::size_t usual_most_pieces = 2'000'000;

  explicit AnswerStream(OnText on_text = {}, std::size_t most_pieces = usual_most_pieces);

  void read(std::string_view piece, Instant at);
  // The stream is over, properly or not: an answer that has not ended itself is a failure.
  void end(Instant at);
  // The answer is whole or has failed; nothing more is to be read.
  [[nodiscard]] bool is_done() const { return done_ || !answer_.failure.empty(); }
  // A failure that is noticed outside: the first one counts.
  void fail(std::string_view kind, std::string_view detail);

  [[nodiscard]] Answer& answer() { return answer_; }

 private:
  void take(std::string_view data, Instant at);

  Answer answer_;
  OnText on_text_;
  std::size_t most_pieces_;
  protocol::EventReader events_;
  bool done_ = false;
};

// What an answer that is not a stream says: the message of an error object, or the beginning of anything else.
std::string error_text(std::string_view body);

}  // namespace zeus::serving
