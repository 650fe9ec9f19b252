// An HTTP/1.1 client for one server, over a Unix socket or TCP, that waits for each answer. It keeps a connection for
// the next request. What a server sends is bounded in size and time, and anything that is not HTTP is an Error.
//
// Threads: one at a time; give each thread its own. Fork: a child that uses it gets a connection of its own.
// No thread, no signal and, while it waits, no allocation beyond the answer.
#pragma once

#include "transport/http.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::transport {

// Where a server is: the path of a Unix socket, or "host:port".
struct Endpoint {
  std::string unix_path;
  std::string host_port;

  // As people write it: what has a slash is a path.
  static Endpoint from(std::string_view text);
  [[nodiscard]] const std::string& name() const { return unix_path.empty() ? host_port : unix_path; }
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct ClientPlan {
  Endpoint server;
  std::string token;  // sent as a bearer's; empty for none
  Seconds connect_time{2};
  Seconds answer_time{10};
  std::size_t longest_answer = 16UL * 1024 * 1024;
};

class HttpClient {
 public:
  explicit HttpClient(ClientPlan plan);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  [[nodiscard]] const ClientPlan& plan() const;

  // The answer, whatever its status. Errors: unavailable when the server cannot be reached or goes away (what may be
  // done twice, a GET, is then asked once more on a new connection when the old one was kept from before);
  // permission_denied when this user may not open its socket; timeout; corrupt_data when what comes is not an answer;
  // invalid_argument when the request cannot be written down as one.
  Answer ask(const Request& request);
  // The same with another time for the answer.
  Answer ask(const Request& request, Seconds answer_time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads an answer without an end piece by piece, as it comes.
class StreamReader {
 public:
  // Asks, and waits for the head: its status may be one that is no stream; then the body is in `answer()`.
  StreamReader(ClientPlan plan, const Request& request);
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();

  [[nodiscard]] const Answer& answer() const;
  // What has come, of any length but zero; nothing when it has ended; a timeout Error when nothing came for `patience`,
  // after which one may read on; unavailable when it broke off.
  std::optional<std::string> read(Seconds patience);
  // To be told by poll() that there is something to read.
  [[nodiscard]] int descriptor() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The parser by which both read what a server sends, for its fuzzer: feeds `bytes` in pieces of `piece` and returns
// what came of it, or the Error's text.
std::string read_answer_for_test(std::string_view bytes, std::size_t piece);

}  // namespace zeus::transport
