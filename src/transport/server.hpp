// An HTTP/1.1 server on Unix sockets and TCP. It reads a whole request, within bounds and timeouts, and passes it to
// the handler on the loop's thread. The answer may come at once, or later and from any thread. At most `limits.body`
// bytes of a body are held in memory: a longer one, if it is allowed, is kept in a file (long_body.hpp).
//
// Threads: a server is made, told to listen and destroyed on the loop's thread, or while the loop does not run. An
// Exchange or Stream is shared, and may be used from any thread. Each connection has one request at a time. Requests
// that a client sends ahead wait: up to `limits.head` bytes are read, the rest stays in the socket.
#pragma once

#include "base/clock.hpp"
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

// An answer without an end, made of pieces: server-sent events. A reader that does not keep up loses pieces, not
// memory.
class Stream {
 public:
  virtual ~Stream() = default;
  // Sends the whole piece or drops it. False means dropped, because the reader has `most_unsent` unread bytes or has
  // gone. Many streams may be offered the same piece, which is not copied.
  virtual bool offer(const std::shared_ptr<const std::string>& piece) = 0;
  // Ends it properly, once the accepted pieces are sent.
  virtual void end() = 0;
  [[nodiscard]] virtual bool is_over() const = 0;
};

// One request that waits for its answer. If the last reference is dropped without an answer, the client gets 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual const Request& request() const = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
  // The first call counts; later ones do nothing.
  virtual void answer(Answer answer) = 0;
  virtual std::shared_ptr<Stream> stream(int status, Headers headers) = 0;
  // Whether the client has closed its connection and no longer waits. Noticed within a moment, even if nothing is sent.
  [[nodiscard]] virtual bool is_abandoned() const = 0;
  // Called once, on the loop's thread, if the client closes before the answer (or the stream) is over; at once if it
  // has closed already.
  virtual void when_abandoned(std::function<void()> work) = 0;
};

struct ServerLimits {
  std::size_t head = 16UL * 1024;    // 431 beyond
  std::size_t body = 1024UL * 1024;  // 413 beyond
  // Another bound for the body of some methods and targets; called on the loop's thread.
  std::function<std::size_t(std::string_view method, std::string_view target)> body_of = {};
  std::size_t connections = 2048;          // one more gets 503 and is closed
  std::size_t from_one_peer = 512;         // of one user (Unix) or one address (TCP): likewise
  std::size_t most_unsent = 256UL * 1024;  // in a stream
  Seconds head_time{10};                   // from the first byte to the end of the head: 408
  // To the first 256 KiB of the body, and from there to the next: 408. In all at most this and the time that its bytes
  // take at `body_rate`.
  Seconds body_time{30};
  std::size_t body_rate = 64UL * 1024;  // bytes a second
  Seconds idle_time{75};                // between two requests: closed
  Seconds send_time{30};                // for a reader that does not read: closed
};

class HttpServer {
 public:
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  // The body of a refusal for a request that does not reach the handler; the status stays.
  using RefusalOf = std::function<Answer(int status, std::string_view reason)>;

  // Without `refusal_of`, {"error": "..."}. The clock, for the Date of answers, outlives the server.
  HttpServer(EventLoop& loop, const Clock& clock, ServerLimits limits, Handler handler, RefusalOf refusal_of = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Closes every connection.
  ~HttpServer();  // NOLINT(bugprone-exception-escape): callbacks of the end must not throw

  // Accepts connections on a listening socket (listener.hpp).
  void accept_on(FileDescriptor listener);
  // Accepts no more clients, and answers what was asked; connections without a request are closed.
  void drain();
  [[nodiscard]] std::size_t connections() const;
  // How many requests were refused with this status before they reached the handler.
  [[nodiscard]] std::uint64_t refused(int status) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace zeus::transport
