// An HTTP/1.1 server on Unix sockets and TCP. It reads a request whole, within bounds and time-outs, and hands it to
// the handler on the loop's thread; the answer may be given there and then, or later and from any thread.
//
// Threads: a server is made, told to listen and destroyed on the loop's thread, or while the loop does not run. An
// Exchange or Stream is shared, and may be used from any thread. Each connection has one request at a time: what a
// client sends ahead waits, up to `limits.head` bytes of it read and the rest in its socket.
#pragma once

#include "base/file_descriptor.hpp"
#include "transport/event_loop.hpp"
#include "transport/http.hpp"
#include "transport/peer.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {

// An answer without an end, which is fed: server-sent events. A reader that does not keep up loses pieces, not memory.
class Stream {
 public:
  virtual ~Stream() = default;
  // Sends this piece whole, or drops it whole: false when it was dropped, because the reader has `most_unsent` bytes
  // yet to read or has gone. Many streams may be offered the same piece, which is not copied.
  virtual bool offer(const std::shared_ptr<const std::string>& piece) = 0;
  // Ends it in good order, once what was accepted is sent.
  virtual void end() = 0;
  [[nodiscard]] virtual bool is_over() const = 0;
};

// One request that waits for its answer. Whoever lets go of the last reference without an answer has it answered 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual const Request& request() const = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
  // The first counts; later ones do nothing.
  virtual void answer(Answer answer) = 0;
  virtual std::shared_ptr<Stream> stream(int status, Headers headers) = 0;
  // Whether the client has closed its connection: nobody waits for the answer any more. Seen within a moment, also
  // when nothing is sent.
  [[nodiscard]] virtual bool is_abandoned() const = 0;
  // Called once on the loop's thread when the client closes before the answer (or the stream) is over; at once when it
  // has already.
  virtual void when_abandoned(std::function<void()> work) = 0;
};

struct ServerLimits {
  std::size_t head = 16UL * 1024;    // 431 beyond
  std::size_t body = 1024UL * 1024;  // 413 beyond
  // Another bound for the body of what this method and target ask, where it is not that; called on the loop's thread.
  std::function<std::size_t(std::string_view method, std::string_view target)> body_of = {};
  std::size_t connections = 2048;          // one more is told 503 and closed
  std::size_t from_one_peer = 512;         // of one user (Unix) or one address (TCP): likewise
  std::size_t most_unsent = 256UL * 1024;  // of a stream
  Seconds head_time{10};                   // from the first byte to the end of the head: 408
  Seconds body_time{30};
  Seconds idle_time{75};  // between two requests: closed
  Seconds send_time{30};  // for a reader that does not read: closed
};

class HttpServer {
 public:
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  // How a request is refused that does not reach the handler, but for its status.
  using RefusalOf = std::function<Answer(int status, std::string_view reason)>;

  // Without `refusal_of`, {"error": "..."}.
  HttpServer(EventLoop& loop, ServerLimits limits, Handler handler, RefusalOf refusal_of = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Closes every connection.
  ~HttpServer();  // NOLINT(bugprone-exception-escape): what is told of the end must not throw

  // Accepts on a socket that listens already (listener.hpp).
  void accept_on(FileDescriptor listener);
  // Accepts nobody more, and answers what was asked; connections without a request are closed.
  void drain();
  [[nodiscard]] std::size_t connections() const;
  // Requests that were refused before they reached the handler, by status.
  [[nodiscard]] std::uint64_t refused(int status) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace zeus::transport
