// An HTTP/1.1 client for one server, over a Unix socket or TCP; it waits for each answer. It keeps the connection for
// the next request. A server's answer is bounded in size and time, and anything that is not HTTP is an Error.
//
// Threads: one at a time; give each thread its own. Fork: a child that uses it gets a connection of its own. It uses no
// thread and no signal and, while it waits, allocates nothing but the answer.
#pragma once

#include "transport/channel.hpp"
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

  // As people write it: a string with a slash is a path.
  static Endpoint from(std::string_view text);
  [[nodiscard]] const std::string& name() const { return unix_path.empty() ? host_port : unix_path; }
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct ClientPlan {
  Endpoint server;
  std::string token;        // sent as a bearer token; empty: none
  Seconds connect_time{2};  // and as much again for a handshake
  Seconds answer_time{10};
  std::size_t longest_answer = 16UL * 1024 * 1024;
  ChannelOver channel = {};  // empty: bytes travel as they are
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

  // Returns the answer, whatever its status. Errors: unavailable if the server cannot be reached or goes away (a GET,
  // which may be repeated, is then sent once more on a new connection if the old one was a kept one); permission_denied
  // if this user may not open its socket; timeout; corrupt_data if what comes is not an answer; invalid_argument if the
  // request cannot be written as one.
  Answer ask(const Request& request);
  // The same, with at most `answer_time` to connect, for a handshake, and for the answer, each.
  Answer ask(const Request& request, Seconds answer_time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads an answer without an end, piece by piece, as it comes.
class StreamReader {
 public:
  // How far the constructor goes: until the request is sent, or until the head of the answer is there, too.
  enum class Until { sent, head };

  // Sends the request and waits for the head. If its status is not that of a stream, `answer()` has the body.
  StreamReader(ClientPlan plan, const Request& request, Until until = Until::head);
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();

  // Once the head is there.
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] const Answer& answer() const;
  // The next bytes, never none; empty when the stream has ended. Waits for the head, too, if it is not there yet; an
  // answer that is not a stream is then read to its end. Throws a timeout Error if nothing came within
  // `patience`, after which reading may go on, and an unavailable Error if the connection broke off.
  std::optional<std::string> read(Seconds patience);
  // For poll(), to learn that there is something to read.
  [[nodiscard]] int descriptor() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For a fuzzer, the parser that both use on a server's bytes: feeds `bytes` in pieces of `piece` and returns the
// result, or the Error's message.
std::string read_answer_for_test(std::string_view bytes, std::size_t piece);

}  // namespace zeus::transport
