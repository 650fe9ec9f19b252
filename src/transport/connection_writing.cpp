// The sending side of a connection: answers, streams, and what did not fit into its socket at once.

#include "transport/connection.hpp"

#include <zeus/error.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>

#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <span>
#include <utility>

namespace zeus::transport {

namespace asio = boost::asio;

namespace {

constexpr Seconds linger_time{1};
constexpr std::string_view line_end{"\r\n"};
constexpr std::string_view last_chunk{"0\r\n\r\n"};

bool is_the_servers(std::string_view name) {
  return same_name(name, "Content-Length") || same_name(name, "Connection") || same_name(name, "Transfer-Encoding") ||
         same_name(name, "Date");
}

// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
void append_date(std::string& to, WallTime time) {
  constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = time.microseconds_since_epoch / 1'000'000;
  std::tm parts{};
  static_cast<void>(::gmtime_r(&seconds, &parts));
  fmt::format_to(std::back_inserter(to), FMT_COMPILE("Date: {}, {:02} {} {:04} {:02}:{:02}:{:02} GMT\r\n"),
                 days.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                 months.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                 parts.tm_sec);
}

// A header's text in a safe form: a line break in it would begin another header.
void append_field(std::string& to, std::string_view text) {
  for (const char letter : text) {
    to += letter == '\r' || letter == '\n' || letter == '\0' ? ' ' : letter;
  }
}

}  // namespace

void Connection::post(void (Connection::*work)()) {
  asio::post(server_->loop, [self = shared_from_this(), work] { ((*self).*work)(); });
}

std::string Connection::head_of(int status, const Headers& headers, std::optional<std::size_t> length,
                                bool is_chunked) const {
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), FMT_COMPILE("HTTP/1.1 {} {}\r\n"), status, reason_of(status));
  for (const auto& [name, value] : headers.all()) {
    if (is_the_servers(name)) {
      continue;
    }
    append_field(head, name);
    head += ": ";
    append_field(head, value);
    head += line_end;
  }
  append_date(head, server_->clock.wall());
  if (length) {
    fmt::format_to(std::back_inserter(head), FMT_COMPILE("Content-Length: {}\r\n"), *length);
  }
  if (is_chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (!keeps_alive_) {
    head += "Connection: close\r\n";
  } else if (is_http_1_0_) {
    head += "Connection: keep-alive\r\n";
  }
  head += line_end;
  return head;
}

void Connection::answer(std::uint64_t request, Answer answer) {
  std::function<void()> dropped;  // destroyed after the mutex: it may own the last reference to something
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::waiting || request != request_) {
    return;
  }
  dropped = std::exchange(when_abandoned_, nullptr);
  keeps_alive_ = keeps_alive_ && !client_has_ended_ && !server_->drains.load(std::memory_order_relaxed);
  const bool has_body = answer.status >= 200 && answer.status != 204 && answer.status != 304;
  const std::size_t length = answer.long_body ? answer.long_body->size() : answer.body.size();
  std::string wire = head_of(answer.status, answer.headers, has_body ? std::optional{length} : std::nullopt, false);
  phase_ = Phase::sending;
  deadline_ = server_->deadline(server_->limits.send_time);
  Piece piece;
  if (has_body && !is_head_request_) {
    constexpr std::size_t worth_a_copy = 4096;
    if (answer.long_body) {
      piece.file = std::move(answer.long_body);
    } else if (answer.body.size() <= worth_a_copy) {
      wire += answer.body;
    } else {
      piece.shared = std::make_shared<const std::string>(std::move(answer.body));
    }
  }
  piece.frame = std::move(wire);
  if (write(std::move(piece)) && unsent_.empty()) {
    finish();
  }
}

bool Connection::begin_stream(std::uint64_t request, int status, const Headers& headers) {
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::waiting || request != request_) {
    return false;
  }
  keeps_alive_ = keeps_alive_ && !is_http_1_0_ && !server_->drains.load(std::memory_order_relaxed);
  phase_ = Phase::streaming;
  return write({head_of(status, headers, std::nullopt, !is_http_1_0_), nullptr, {}});
}

bool Connection::offer(std::uint64_t request, const std::shared_ptr<const std::string>& piece) {
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::streaming || request != request_ || stream_ends_ || is_abandoned_) {
    return false;
  }
  if (!piece || piece->empty() || is_head_request_) {
    return true;
  }
  if (!unsent_.empty() && unsent_size_ + unsent_.size() * sizeof(Piece) + piece->size() > server_->limits.most_unsent) {
    return false;
  }
  if (is_http_1_0_) {
    return write({{}, piece, {}});
  }
  return write({fmt::format(FMT_COMPILE("{:x}\r\n"), piece->size()), piece, line_end});
}

void Connection::end_stream(std::uint64_t request) {
  std::function<void()> dropped;
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::streaming || request != request_ || stream_ends_) {
    return;
  }
  dropped = std::exchange(when_abandoned_, nullptr);
  stream_ends_ = true;
  phase_ = Phase::sending;
  if (is_http_1_0_ || is_head_request_ || write({std::string{last_chunk}, nullptr, {}})) {
    if (unsent_.empty()) {
      finish();
    }
  }
}

bool Connection::waits_for(std::uint64_t request) const {
  const std::lock_guard guard{mutex_};
  return request == request_ && !is_abandoned_ && (phase_ == Phase::waiting || phase_ == Phase::streaming);
}

void Connection::when_abandoned(std::uint64_t request, std::function<void()> work) {
  const std::lock_guard guard{mutex_};
  if (request != request_) {
    return;
  }
  if (is_abandoned_) {
    server_->post(std::move(work));
    return;
  }
  if (phase_ == Phase::waiting || phase_ == Phase::streaming) {
    when_abandoned_ = std::move(work);
  }
}

// False if the connection is lost.
bool Connection::write_some(std::size_t& written, const Piece& piece, std::size_t offset) {
  std::array<iovec, 3> parts{};
  std::size_t count = 0;
  const auto add = [&](std::string_view text) {
    const std::size_t skipped = std::min(offset, text.size());
    offset -= skipped;
    text.remove_prefix(skipped);
    if (!text.empty()) {
      // The kernel only reads from it.
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
      parts.at(count++) = {const_cast<char*>(text.data()), text.size()};
    }
  };
  add(piece.frame);
  add(piece.shared ? std::string_view{*piece.shared} : std::string_view{});
  add(piece.after);
  if (count == 0 && piece.file) {
    return write_of_file(written, *piece.file, offset);
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  const ssize_t sent = count == 1
                           ? ::send(descriptor_.get(), parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT)
                           : ::sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS;
  }
  written = static_cast<std::size_t>(sent);
  return true;
}

bool Connection::write_of_file(std::size_t& written, const LongBody& file, std::size_t offset) {
  std::array<char, 64UL * 1024> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): only what was read is sent
  try {
    const std::span<const char> some = file.read(offset, room);
    const ssize_t sent = ::send(descriptor_.get(), some.data(), some.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (some.empty() || sent < 0) {
      return !some.empty() && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS);
    }
    written = static_cast<std::size_t>(sent);
    return true;
  } catch (const Error&) {
    return false;  // its client sees that it is cut short
  }
}

bool Connection::write(Piece piece) {
  if (!descriptor_) {
    return false;
  }
  std::size_t written = 0;
  const std::size_t size = piece.size();
  if (unsent_.empty()) {
    if (!write_some(written, piece, 0)) {
      fail();
      return false;
    }
    if (written == size) {
      return true;
    }
    sent_of_first_ = written;
    deadline_ = server_->deadline(server_->limits.send_time);
    post(&Connection::wait_to_write);
  }
  unsent_size_ += size - written;
  unsent_.push_back(std::move(piece));
  return true;
}

void Connection::wait_to_write() {
  if (waits_to_write_ || !socket_) {
    return;
  }
  waits_to_write_ = true;
  socket_->async_wait(asio::posix::descriptor_base::wait_write,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        self->waits_to_write_ = false;
                        if (!error && self->socket_) {
                          self->write_rest();
                        }
                      });
}

void Connection::write_rest() {
  const std::lock_guard guard{mutex_};
  while (!unsent_.empty()) {
    std::size_t written = 0;
    if (!write_some(written, unsent_.front(), sent_of_first_)) {
      fail();
      return;
    }
    if (written == 0) {
      wait_to_write();
      return;
    }
    deadline_ = server_->deadline(server_->limits.send_time);
    unsent_size_ -= written;
    sent_of_first_ += written;
    if (sent_of_first_ == unsent_.front().size()) {
      unsent_.pop_front();
      sent_of_first_ = 0;
    }
  }
  deadline_ = 0;
  if (phase_ == Phase::sending) {
    finish();
  } else if (phase_ == Phase::reading) {
    deadline_ = server_->deadline(server_->limits.body_time);  // what was sent was 100 Continue
  }
}

void Connection::fail() {
  unsent_.clear();
  unsent_size_ = 0;
  is_abandoned_ = true;
  post(&Connection::close);
}

// The whole answer is in the socket.
void Connection::finish() {
  if (!keeps_alive_ || client_has_ended_) {
    phase_ = Phase::lingering;
    deadline_ = server_->deadline(linger_time);
    post(&Connection::linger);
    return;
  }
  phase_ = Phase::idle;
  is_abandoned_ = false;
  deadline_ = server_->deadline(server_->limits.idle_time);
  const bool goes_on_by_itself = server_->loop.get_executor().running_in_this_thread() && processes_;
  if (has_ahead_ && !goes_on_by_itself) {
    post(&Connection::process);
  }
}

// Waits a moment for the client to close: bytes that it still sends would otherwise make the kernel discard the answer.
void Connection::linger() {
  bool is_over = false;
  {
    const std::lock_guard guard{mutex_};
    if (descriptor_) {
      ::shutdown(descriptor_.get(), SHUT_WR);
    }
    is_over = client_has_ended_ || client_sends_no_more_;
  }
  if (is_over) {
    close();
    return;
  }
  reader_.buffer().use(reader_.buffer().waiting().size());
  read();
}

}  // namespace zeus::transport
