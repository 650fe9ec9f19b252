#include "transport/server.hpp"

#include "transport/asio_loop.hpp"
#include "transport/connection.hpp"
#include "transport/peer_of.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zeus::transport {

namespace asio = boost::asio;

namespace {

// The answer to one client too many; its request is not read.
std::string too_many(const ServerShared& shared) {
  const Answer refusal = shared.refusal(503, "too many connections");
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\nRetry-After: 1\r\n"
      "Connection: close\r\n\r\n{}",
      refusal.headers.get("Content-Type").value_or("text/plain"), refusal.body.size(), refusal.body);
}

constexpr Seconds pause_without_descriptors{0.1};
constexpr int accepted_at_once = 64;  // so that connected clients do not wait for new ones

std::chrono::nanoseconds duration_of(Seconds time) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(time.value() * 1e9)};
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<HttpServer::State> {
  struct Listener {
    FileDescriptor descriptor;
    bool is_unix = false;
    asio::posix::stream_descriptor waiting;
    asio::steady_timer pause;

    Listener(asio::io_context& loop, FileDescriptor its_descriptor)
        : descriptor{std::move(its_descriptor)},
          is_unix{is_unix_socket(descriptor.get())},
          waiting{loop, descriptor.get()},
          pause{loop} {}
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { waiting.release(); }
  };
  struct Connected {
    std::shared_ptr<Connection> connection;
    std::string from;  // the name under which clients are counted: "user 1000", "192.0.2.7"
  };

  std::shared_ptr<ServerShared> shared;
  std::list<std::shared_ptr<Listener>> listeners{};
  std::unordered_map<std::uint64_t, Connected> connected{};
  std::map<std::string, std::size_t, std::less<>> from_peers{};
  std::uint64_t last_connection = 0;
  std::atomic<std::size_t> count{0};
  asio::steady_timer ticks;
  bool is_ticking = false;
  bool is_over = false;

  explicit State(std::shared_ptr<ServerShared> its_shared) : shared{std::move(its_shared)}, ticks{shared->loop} {}

  void accept(const std::shared_ptr<Listener>& listener);
  void wait_to_accept(const std::shared_ptr<Listener>& listener);
  void take(FileDescriptor socket, bool is_unix);
  void refuse(const FileDescriptor& socket);
  void forget(std::uint64_t number);
  void tick();
  void close_all();
};

void HttpServer::State::wait_to_accept(const std::shared_ptr<Listener>& listener) {
  listener->waiting.async_wait(asio::posix::descriptor_base::wait_read,
                               [self = shared_from_this(), listener](const boost::system::error_code& error) {
                                 if (!error && !self->is_over) {
                                   self->accept(listener);
                                 }
                               });
}

void HttpServer::State::accept(const std::shared_ptr<Listener>& listener) {
  for (int i = 0; i < accepted_at_once; ++i) {
    FileDescriptor socket{::accept4(listener->descriptor.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (socket) {
      take(std::move(socket), listener->is_unix);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // New clients stay in the queue, which would wake the loop again at once.
      listener->pause.expires_after(duration_of(pause_without_descriptors));
      listener->pause.async_wait([self = shared_from_this(), listener](const boost::system::error_code& error) {
        if (!error && !self->is_over) {
          self->accept(listener);
        }
      });
      return;
    }
  }
  wait_to_accept(listener);
}

void HttpServer::State::take(FileDescriptor socket, bool is_unix) {
  const std::string from = is_unix ? "user " + std::to_string(user_of(socket.get())) : address_of_peer(socket.get());
  std::size_t& others = from_peers[from];
  if (connected.size() >= shared->limits.connections || others >= shared->limits.from_one_peer) {
    if (others == 0) {
      from_peers.erase(from);
    }
    refuse(socket);
    return;
  }
  Peer peer;
  peer.connection = ++last_connection;
  try {
    if (is_unix) {
      peer.local = local_peer_of(socket.get());
    } else {
      peer.address = from;
      const int at_once = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    }
    const auto connection = std::make_shared<Connection>(shared, std::move(socket), std::move(peer));
    connected.emplace(last_connection, Connected{connection, from});
    ++others;
    ++count;
    connection->begin();
  } catch (const Error&) {
    // If its user is unknown, the socket is closed.
    if (others == 0) {
      from_peers.erase(from);
    }
    return;
  }
  if (!is_ticking) {
    tick();
  }
}

void HttpServer::State::refuse(const FileDescriptor& socket) {
  constexpr int service_unavailable = 503;
  shared->count_refusal(service_unavailable);
  const std::string answer = too_many(*shared);
  ::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.get(), SHUT_WR);
  // Unread requests would make the kernel discard the answer.
  std::array<char, 4096> unread{};
  while (::recv(socket.get(), unread.data(), unread.size(), MSG_DONTWAIT) == static_cast<ssize_t>(unread.size())) {
  }
}

void HttpServer::State::forget(std::uint64_t number) {
  const auto found = connected.find(number);
  if (found == connected.end()) {
    return;
  }
  const auto others = from_peers.find(found->second.from);
  if (--others->second == 0) {
    from_peers.erase(others);
  }
  const Connected kept = std::move(found->second);
  connected.erase(found);
  --count;
}

void HttpServer::State::tick() {
  is_ticking = !connected.empty() && !is_over;
  if (!is_ticking) {
    return;
  }
  ticks.expires_after(duration_of(shared->tick));
  ticks.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->is_over) {
      return;
    }
    ++self->shared->now;
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(self->connected.size());
    for (const auto& [number, each] : self->connected) {
      all.push_back(each.connection);
    }
    for (const auto& connection : all) {
      connection->look_at_deadline();
    }
    self->tick();
  });
}

void HttpServer::State::close_all() {
  is_over = true;
  ticks.cancel();
  for (const auto& listener : listeners) {
    listener->pause.cancel();
    listener->waiting.cancel();
  }
  listeners.clear();
  while (!connected.empty()) {
    const std::shared_ptr<Connection> connection = connected.begin()->second.connection;
    connection->close();
  }
}

HttpServer::HttpServer(EventLoop& loop, const Clock& clock, ServerLimits limits, Handler handler, RefusalOf refusal_of)
    : state_{std::make_shared<State>(std::make_shared<ServerShared>(loop.state().context, clock, std::move(limits),
                                                                    std::move(handler), std::move(refusal_of)))} {
  state_->shared->forget = [state = state_.get()](std::uint64_t number) { state->forget(number); };
}

HttpServer::~HttpServer() {  // NOLINT(bugprone-exception-escape): callbacks of the end must not throw
  state_->close_all();
  // An Exchange may outlive the server and keep its shared state; the handler may be what keeps the Exchange.
  state_->shared->handler = nullptr;
  state_->shared->forget = nullptr;
  const std::lock_guard guard{state_->shared->mutex};
  state_->shared->is_over = true;
}

void HttpServer::accept_on(FileDescriptor listener) {
  const int flags = ::fcntl(listener.get(), F_GETFL);
  if (flags < 0 || ::fcntl(listener.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    throw system_failure(errno, "cannot accept connections on a socket");
  }
  const auto added = std::make_shared<State::Listener>(state_->shared->loop, std::move(listener));
  state_->listeners.push_back(added);
  state_->wait_to_accept(added);
}

void HttpServer::drain() {
  state_->shared->drains = true;
  for (const auto& listener : state_->listeners) {
    listener->pause.cancel();
    listener->waiting.cancel();
  }
  state_->listeners.clear();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [number, each] : state_->connected) {
    all.push_back(each.connection);
  }
  for (const auto& connection : all) {
    connection->close_unless_asked();
  }
}

std::size_t HttpServer::connections() const {
  return state_->count;
}

std::uint64_t HttpServer::refused(int status) const {
  return status < 400 || status > 599 ? 0 : state_->shared->refusals.at(static_cast<std::size_t>(status - 400)).load();
}

}  // namespace zeus::transport
