// What comes over a connection, made into requests and answers: the only place that knows the grammar of HTTP/1.1. It
// never waits and never asks the system for anything; bytes are put into its buffer by whoever has the socket.
// One thread at a time.
#pragma once

#include "transport/http.hpp"
#include "transport/input_buffer.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {

// Requests, one after the other.
class RequestReader {
 public:
  enum class Step { more, whole, refused };

  using BodyOf = std::function<std::size_t(std::string_view method, std::string_view target)>;

  // `body_of` has another bound for what is asked so; it may be nothing.
  RequestReader(std::size_t longest_head, std::size_t longest_body, BodyOf body_of = {});
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  [[nodiscard]] InputBuffer& buffer();
  // Goes as far in the buffer as it can. After `refused` the connection is of no more use.
  Step step();

  // Of the request that is being read.
  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  // Whether the client waits to be told to go on with the body; says so once.
  bool take_wish_to_continue();

  // Of the request that is whole.
  Request take_request();  // after which the next one is read
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool is_http_1_0() const;

  // Of the one that is refused.
  [[nodiscard]] int status() const;
  [[nodiscard]] std::string_view reason() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One answer. Interim ones (100) are passed over.
class AnswerReader {
 public:
  enum class Step { more, whole };

  // `longest_body` is of what has not been taken.
  AnswerReader(bool to_head_request, std::size_t longest_body);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;
  ~AnswerReader();

  [[nodiscard]] InputBuffer& buffer();
  // What is not an answer is a corrupt_data Error that names `server`.
  Step step(const std::string& server);
  // Nothing more will come: whole where that is how an answer may end, else an unavailable Error.
  Step end(const std::string& server);

  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool keeps_alive() const;
  // With as much of its body as has come and was not taken.
  [[nodiscard]] Answer& answer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zeus::transport
