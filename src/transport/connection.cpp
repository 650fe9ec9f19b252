#include "transport/connection.hpp"

#include "transport/request_exchange.hpp"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::transport {

namespace asio = boost::asio;

namespace {

constexpr std::string_view go_on{"HTTP/1.1 100 Continue\r\n\r\n"};
constexpr std::size_t progress_of_a_body = std::size_t{256} * 1024;

}  // namespace

ServerShared::ServerShared(asio::io_context& its_loop, const Clock& its_clock, ServerLimits its_limits,
                           HttpServer::Handler its_handler, HttpServer::RefusalOf its_refusal_of)
    : loop{its_loop},
      clock{its_clock},
      limits{std::move(its_limits)},
      handler{std::move(its_handler)},
      refusal_of{std::move(its_refusal_of)},
      tick{std::clamp(std::min({limits.head_time, limits.body_time, limits.idle_time, limits.send_time}) * 0.25,
                      Seconds{5_ms}, Seconds{1})} {
}

Tick ServerShared::deadline(Seconds time) const {
  return deadline(now.load(std::memory_order_relaxed), time);
}

Tick ServerShared::deadline(Tick since, Seconds time) const {
  return since + 1 + static_cast<Tick>(std::ceil(time / tick));
}

void ServerShared::post(std::function<void()> work) {
  const std::lock_guard guard{mutex};
  if (!is_over) {
    asio::post(loop, std::move(work));
  }
}

Answer ServerShared::refusal(int status, std::string_view reason) const {
  if (refusal_of) {
    return refusal_of(status, reason);
  }
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = fmt::format(R"({{"error": "{}"}})", reason)};
}

void ServerShared::count_refusal(int status) {
  ++refusals.at(static_cast<std::size_t>(status - 400));
}

Connection::Connection(std::shared_ptr<ServerShared> server, FileDescriptor socket, Peer peer)
    : server_{std::move(server)},
      peer_{std::move(peer)},
      reader_{server_->limits.head, server_->limits.body, server_->limits.body_of},
      descriptor_{std::move(socket)} {
  socket_.emplace(server_->loop, descriptor_.get());
}

Connection::~Connection() {
  if (socket_) {
    socket_->release();
  }
}

void Connection::begin() {
  {
    const std::lock_guard guard{mutex_};
    deadline_ = server_->deadline(server_->limits.idle_time);
  }
  read();
}

void Connection::read() {
  if (reads_ || !socket_) {
    return;
  }
  {
    const std::lock_guard guard{mutex_};
    if (client_has_ended_) {
      return;
    }
  }
  const std::span<char> room = reader_.buffer().room();
  if (room.empty()) {
    return;  // process() goes on with it
  }
  reads_ = true;
  socket_->async_read_some(asio::buffer(room.data(), room.size()),
                           [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
                             self->reads_ = false;
                             if (!self->socket_) {
                               return;
                             }
                             if (error) {
                               self->take_end(error != asio::error::eof);
                             } else {
                               self->take_read(count);
                             }
                           });
}

void Connection::take_read(std::size_t count) {
  InputBuffer& buffer = reader_.buffer();
  buffer.filled(count);
  bool is_due = false;
  {
    const std::lock_guard guard{mutex_};
    if (phase_ == Phase::lingering) {
      buffer.use(buffer.waiting().size());
    }
    is_due = phase_ == Phase::idle || phase_ == Phase::reading;
    if (phase_ == Phase::reading && reader_.has_head()) {
      extend_body_time(count);
    }
    has_ahead_ = !is_due && !buffer.is_empty();
  }
  if (is_due) {
    process();
  } else {
    read();
  }
}

void Connection::extend_body_time(std::size_t count) {
  body_read_ += count;
  if (body_read_ - extended_at_ >= progress_of_a_body) {
    extended_at_ = body_read_;
    const ServerLimits& limits = server_->limits;
    const Seconds at_that_rate{static_cast<double>(body_read_) / static_cast<double>(limits.body_rate)};
    deadline_ =
        std::min(server_->deadline(limits.body_time), server_->deadline(body_began_, limits.body_time + at_that_rate));
  }
}

void Connection::take_end(bool is_error) {
  bool goes_on = false;
  {
    const std::lock_guard guard{mutex_};
    client_has_ended_ = true;
    // A client that has closed only its sending direction still gets an answer.
    goes_on = !is_error && (phase_ == Phase::waiting || phase_ == Phase::sending);
  }
  if (goes_on) {
    abandon();
  } else {
    close();
  }
}

void Connection::process() {
  processes_ = true;
  while (true) {
    {
      const std::lock_guard guard{mutex_};
      if (phase_ != Phase::idle && phase_ != Phase::reading) {
        has_ahead_ = !reader_.buffer().is_empty();
        break;
      }
    }
    const bool had_head = reader_.has_head();
    const RequestReader::Step step = reader_.step();
    if (step == RequestReader::Step::whole) {
      hand_over();
      continue;
    }
    if (step == RequestReader::Step::refused) {
      refuse(reader_.status(), reader_.reason());
      continue;
    }
    const std::lock_guard guard{mutex_};
    if (client_has_ended_) {
      post(&Connection::close);
    } else if (reader_.has_head() && !had_head) {
      phase_ = Phase::reading;
      body_began_ = server_->now.load(std::memory_order_relaxed);
      body_read_ = extended_at_ = 0;
      deadline_ = server_->deadline(server_->limits.body_time);
    } else if (phase_ == Phase::idle && reader_.has_begun()) {
      phase_ = Phase::reading;
      deadline_ = server_->deadline(server_->limits.head_time);
    }
    if (reader_.take_wish_to_continue()) {
      write({std::string{go_on}, nullptr, {}});
    }
    break;
  }
  processes_ = false;
  read();
}

void Connection::hand_over() {
  std::uint64_t number = 0;
  const bool keeps_alive = reader_.keeps_alive();
  const bool is_http_1_0 = reader_.is_http_1_0();
  Request request = reader_.take_request();
  {
    const std::lock_guard guard{mutex_};
    phase_ = Phase::waiting;
    deadline_ = 0;
    number = ++request_;
    keeps_alive_ = keeps_alive;
    client_sends_no_more_ = !keeps_alive;
    is_http_1_0_ = is_http_1_0;
    is_head_request_ = request.method == "HEAD";
    stream_ends_ = false;
    is_abandoned_ = client_has_ended_;
    has_ahead_ = !reader_.buffer().is_empty();
  }
  try {
    server_->handler(exchange_of(shared_from_this(), number, std::move(request)));
  } catch (...) {  // NOLINT(bugprone-empty-catch): one request must not end the server, and is answered 500 by now
  }
}

void Connection::refuse(int status, std::string_view reason) {
  server_->count_refusal(status);
  const std::lock_guard guard{mutex_};
  if (phase_ == Phase::closed) {
    return;
  }
  keeps_alive_ = false;
  client_sends_no_more_ = false;
  is_head_request_ = false;
  is_http_1_0_ = false;
  const Answer refusal = server_->refusal(status, reason);
  std::string wire = head_of(status, refusal.headers, refusal.body.size(), false);
  wire += refusal.body;
  phase_ = Phase::sending;
  deadline_ = server_->deadline(server_->limits.send_time);
  if (write({std::move(wire), nullptr, {}}) && unsent_.empty()) {
    finish();
  }
}

void Connection::abandon() {
  std::function<void()> work;
  {
    const std::lock_guard guard{mutex_};
    is_abandoned_ = true;
    work = std::exchange(when_abandoned_, nullptr);
  }
  if (work) {
    work();
  }
}

void Connection::close() {
  std::function<void()> work;
  std::deque<Piece> dropped;
  {
    const std::lock_guard guard{mutex_};
    if (phase_ == Phase::closed) {
      return;
    }
    phase_ = Phase::closed;
    deadline_ = 0;
    is_abandoned_ = true;
    unsent_.swap(dropped);
    unsent_size_ = 0;
    work = std::exchange(when_abandoned_, nullptr);
    socket_->release();
    socket_.reset();
    descriptor_.close();
  }
  if (server_->forget) {
    server_->forget(peer_.connection);
  }
  if (work) {
    work();
  }
}

void Connection::close_unless_asked() {
  {
    const std::lock_guard guard{mutex_};
    if (phase_ != Phase::idle) {
      return;
    }
  }
  close();
}

void Connection::look_at_deadline() {
  Phase phase = Phase::closed;
  bool is_full = false;
  bool is_due = false;
  {
    const std::lock_guard guard{mutex_};
    phase = phase_;
    is_due = deadline_ != 0 && deadline_ <= server_->now.load(std::memory_order_relaxed);
    is_full = !client_has_ended_ && !is_abandoned_ && (phase == Phase::waiting || phase == Phase::streaming);
  }
  if (is_due && phase == Phase::reading) {
    refuse(408, reader_.has_head() ? "the body of the request did not come in time"
                                   : "the head of the request did not come in time");
  } else if (is_due) {
    close();
  } else if (is_full && !reads_ && socket_) {
    // Requests that a client sends ahead are read up to a bound only; so is the end after them.
    pollfd asked{socket_->native_handle(), POLLRDHUP, 0};
    if (::poll(&asked, 1, 0) > 0) {
      take_end((asked.revents & (POLLERR | POLLHUP)) != 0);
    }
  }
}

}  // namespace zeus::transport
