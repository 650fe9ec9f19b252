// One connection of the server: reads its requests one after the other, passes each to the handler, and writes the
// answers. For this module alone; includes Asio.
//
// Threads: it lives on the loop's thread, except for writing: the thread that answers writes itself if the socket takes
// the bytes at once (`answer`, `begin_stream`, `offer`, `end_stream`). `mutex_` guards what both sides see. Ownership:
// the server has it until it is closed; an Exchange or Stream keeps what is left of it.
#pragma once

#include "base/file_descriptor.hpp"
#include "transport/long_body.hpp"
#include "transport/message_reader.hpp"
#include "transport/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::transport {

// Deadlines are counted in the server's ticks, so that requests need not read the clock.
using Tick = std::uint64_t;

// What the connections of one server share.
struct ServerShared {
  ServerShared(boost::asio::io_context& its_loop, const Clock& its_clock, ServerLimits its_limits,
               HttpServer::Handler its_handler, HttpServer::RefusalOf its_refusal_of);

  [[nodiscard]] Tick deadline(Seconds time) const;
  [[nodiscard]] Tick deadline(Tick since, Seconds time) const;
  void count_refusal(int status);
  [[nodiscard]] Answer refusal(int status, std::string_view reason) const;
  // Any thread, even after the server and its loop have gone: then it does nothing.
  void post(std::function<void()> work);

  boost::asio::io_context& loop;
  const Clock& clock;  // as long as a connection is open
  const ServerLimits limits;
  HttpServer::Handler handler;  // on the loop's thread alone
  const HttpServer::RefusalOf refusal_of;
  const Seconds tick;
  std::atomic<Tick> now{0};
  std::atomic<bool> drains{false};
  std::array<std::atomic<std::uint64_t>, 200> refusals{};  // of 400 to 599
  std::function<void(std::uint64_t connection)> forget{};  // called by a closed connection, on the loop's thread
  std::mutex mutex{};
  bool is_over = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerShared> server, FileDescriptor socket, Peer peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // On the loop's thread.
  void begin();
  void close();
  void close_unless_asked();  // for a server that drains
  void look_at_deadline();

  // Any thread. `request` tells the present request from earlier ones.
  void answer(std::uint64_t request, Answer answer);
  bool begin_stream(std::uint64_t request, int status, const Headers& headers);
  bool offer(std::uint64_t request, const std::shared_ptr<const std::string>& piece);
  void end_stream(std::uint64_t request);
  [[nodiscard]] bool waits_for(std::uint64_t request) const;
  void when_abandoned(std::uint64_t request, std::function<void()> work);
  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] Answer refusal(int status, std::string_view reason) const { return server_->refusal(status, reason); }

 private:
  enum class Phase {
    idle,       // between two requests
    reading,    // in the middle of a request
    waiting,    // for the answer
    streaming,  // an answer without an end
    sending,    // what did not fit into the socket yet
    lingering,  // all is sent; waits for the client to close
    closed,
  };
  struct Piece {
    std::string frame;                            // comes before it
    std::shared_ptr<const std::string> shared{};  // may be null
    std::string_view after{};
    std::shared_ptr<const LongBody> file{};  // comes last; may be null
    [[nodiscard]] std::size_t in_memory() const { return frame.size() + (shared ? shared->size() : 0) + after.size(); }
    [[nodiscard]] std::size_t size() const { return in_memory() + (file ? file->size() : 0); }
  };

  void read();
  void take_read(std::size_t count);
  void take_end(bool is_error);
  void process();
  void hand_over();
  void refuse(int status, std::string_view reason);
  void abandon();
  void wait_to_write();
  void write_rest();
  void linger();
  // Call these with the mutex held.
  void extend_body_time(std::size_t count);
  bool write(Piece piece);
  bool write_some(std::size_t& written, const Piece& piece, std::size_t offset);
  bool write_of_file(std::size_t& written, const LongBody& file, std::size_t offset);
  void finish();
  void fail();
  void post(void (Connection::*work)());
  [[nodiscard]] std::string head_of(int status, const Headers& headers, std::optional<std::size_t> length,
                                    bool is_chunked) const;

  const std::shared_ptr<ServerShared> server_;
  const Peer peer_;

  // On the loop's thread alone.
  std::optional<boost::asio::posix::stream_descriptor> socket_;
  RequestReader reader_;
  bool reads_ = false;      // a read is under way
  bool processes_ = false;  // process() is on the stack
  bool waits_to_write_ = false;
  Tick body_began_ = 0;
  std::size_t body_read_ = 0;    // since then, with the marks of chunks
  std::size_t extended_at_ = 0;  // of them, when its deadline was last moved

  mutable std::mutex mutex_;
  Phase phase_ = Phase::idle;
  Tick deadline_ = 0;  // 0 for none
  FileDescriptor descriptor_;
  std::uint64_t request_ = 0;  // the number of the last one
  bool keeps_alive_ = true;
  bool client_sends_no_more_ = false;  // as it has announced
  bool is_http_1_0_ = false;
  bool is_head_request_ = false;
  bool stream_ends_ = false;
  bool is_abandoned_ = false;
  bool client_has_ended_ = false;  // nothing more will be read
  bool has_ahead_ = false;         // something of the next request has been read
  std::deque<Piece> unsent_;
  std::size_t sent_of_first_ = 0;
  std::size_t unsent_size_ = 0;
  std::function<void()> when_abandoned_;
};

}  // namespace zeus::transport
