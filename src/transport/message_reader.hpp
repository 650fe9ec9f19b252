// Turns the bytes of a connection into requests and answers: the only place that knows the grammar of HTTP/1.1. It
// never waits and makes no system calls; the socket's owner puts bytes into its buffer. One thread at a time.
#pragma once

#include "transport/http.hpp"
#include "transport/input_buffer.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {

// Reads requests, one after the other.
class RequestReader {
 public:
  enum class Step { more, whole, refused };

  using BodyOf = std::function<std::size_t(std::string_view method, std::string_view target)>;

  // `body_of` gives some requests another bound; it may be empty.
  RequestReader(std::size_t longest_head, std::size_t longest_body, BodyOf body_of = {});
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  [[nodiscard]] InputBuffer& buffer();
  // Goes on in the buffer as far as possible. After `refused` the connection is of no further use.
  Step step();

  // Of the request under way.
  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  // Whether the client waits to be told to send the body; true once.
  bool take_wish_to_continue();

  // Of a complete request.
  Request take_request();  // the next one is read after this
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool is_http_1_0() const;

  // Of the refused request.
  [[nodiscard]] int status() const;
  [[nodiscard]] std::string_view reason() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads one answer. Interim ones (100) are skipped.
class AnswerReader {
 public:
  enum class Step { more, whole };

  // `longest_body` bounds the part that has not been taken yet.
  AnswerReader(bool to_head_request, std::size_t longest_body);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;
  ~AnswerReader();

  [[nodiscard]] InputBuffer& buffer();
  // Throws a corrupt_data Error that names `server` for bytes that are not an answer.
  Step step(const std::string& server);
  // Nothing more will come: returns `whole` if an answer may end here, and otherwise throws an unavailable Error.
  Step end(const std::string& server);

  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool keeps_alive() const;
  // With the part of its body that has come and was not taken.
  [[nodiscard]] Answer& answer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zeus::transport
