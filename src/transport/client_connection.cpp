#include "transport/client_connection.hpp"

#include "transport/address_list.hpp"
#include "transport/host_port.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

namespace zeus::transport {

namespace {

constexpr Seconds longest_wait{1e9};

timespec timespec_of(Seconds time) {
  const double seconds = std::clamp(time.value(), 1e-9, longest_wait.value());
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), std::max(1L, static_cast<long>((seconds - whole) * 1e9))};
}

Error cannot_reach(const std::string& server, int error) {
  const std::string what = fmt::format("cannot reach {}: {}", server, std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
      return {ErrorKind::permission_denied, what, "ask to be added to the socket's group"};
    case EAGAIN:
    case EINPROGRESS:
    case ETIMEDOUT:
      return {ErrorKind::timeout, fmt::format("cannot reach {}: it did not answer in time", server),
              "check whether the server is stopped or overloaded"};
    default:
      return {ErrorKind::unavailable, what, "check whether the server runs"};
  }
}

// Waits within the socket's own timeout, even if the server's queue is full.
bool connects(const FileDescriptor& socket, const sockaddr* address, socklen_t length, Seconds time) {
  const timespec whole = timespec_of(time);
  const timeval patience{whole.tv_sec, std::max(1L, whole.tv_nsec / 1000)};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
    return false;
  }
  while (::connect(socket.get(), address, length) != 0) {
    if (errno == EISCONN) {
      break;
    }
    if (errno != EINTR && errno != EALREADY) {
      return false;
    }
    // A TCP connection may still be under way.
    pollfd made{socket.get(), POLLOUT, 0};
    if (address->sa_family != AF_UNIX && ::ppoll(&made, 1, &whole, nullptr) == 0) {
      errno = ETIMEDOUT;
      return false;
    }
  }
  const int flags = ::fcntl(socket.get(), F_GETFL);
  return ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

FileDescriptor connect_to_unix(const ClientPlan& plan) {
  const std::string& path = plan.server.unix_path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the path of a socket has at most {} bytes, and '{}' has {}", sizeof address.sun_path - 1,
                            path, path.size()),
                "give a shorter path"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket || !connects(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address, plan.connect_time)) {
    throw cannot_reach(path, errno);
  }
  return socket;
}

FileDescriptor connect_to_tcp(const ClientPlan& plan) {
  const std::string& server = plan.server.host_port;
  const auto [host, port] = split_host_port(server);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  // A numeric address needs no name service.
  wanted.ai_flags = AI_NUMERICHOST;
  addrinfo* list = nullptr;
  int error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &list);
  if (error == EAI_NONAME) {
    wanted.ai_flags = 0;
    error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &list);
  }
  if (error != 0) {
    throw Error{ErrorKind::unavailable, fmt::format("cannot reach {}: {}", server, ::gai_strerror(error)),
                "check the name of the host"};
  }
  const AddressList found{list};
  int why = EADDRNOTAVAIL;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    FileDescriptor socket{::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (socket && connects(socket, each->ai_addr, each->ai_addrlen, plan.connect_time)) {
      const int at_once = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      return socket;
    }
    why = errno;
  }
  throw cannot_reach(server, why);
}

// The bytes as they are.
class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(int socket) : socket_{socket} {}

  Step greet() override { return {Now::moved}; }

  Step send(std::string_view bytes) override {
    while (true) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        return {Now::moved, static_cast<std::size_t>(sent)};
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
        return {Now::wants_to_write};
      }
      if (errno != EINTR) {
        return {Now::ended};
      }
    }
  }

  Step receive(std::span<char> room) override {
    while (true) {
      const ssize_t count = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
      if (count > 0) {
        return {Now::moved, static_cast<std::size_t>(count)};
      }
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return {Now::wants_to_read};
      }
      if (count == 0 || errno != EINTR) {
        return {Now::ended};
      }
    }
  }

  bool is_quiet() override {
    char next = 0;
    return ::recv(socket_, &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  int socket_;
};

}  // namespace

ClientConnection::ClientConnection(const ClientPlan& plan)
    : server_{plan.server.name()},
      socket_{plan.server.unix_path.empty() ? connect_to_tcp(plan) : connect_to_unix(plan)},
      timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)},
      channel_{plan.channel ? plan.channel(socket_.get()) : std::make_unique<PlainChannel>(socket_.get())},
      process_{::getpid()} {
  if (!timer_) {
    throw system_failure(errno, "cannot make a timer");
  }
  allow(plan.connect_time);
  while (waits(channel_->greet().now)) {
  }
}

bool ClientConnection::is_good() const {
  return process_ == ::getpid() && channel_->is_quiet();
}

void ClientConnection::allow(Seconds time) {
  itimerspec whole{};
  whole.it_value = timespec_of(time);
  ::timerfd_settime(timer_.get(), 0, &whole, nullptr);
}

bool ClientConnection::waits(Channel::Now now) {
  if (now != Channel::Now::wants_to_read && now != Channel::Now::wants_to_write) {
    return false;
  }
  const short events = now == Channel::Now::wants_to_read ? POLLIN : POLLOUT;
  std::array<pollfd, 2> asked{pollfd{socket_.get(), events, 0}, pollfd{timer_.get(), POLLIN, 0}};
  while (::poll(asked.data(), asked.size(), -1) < 0) {
    if (errno != EINTR) {
      throw system_failure(errno, fmt::format("cannot wait for {}", server_));
    }
  }
  if (asked[0].revents == 0) {
    throw Error{ErrorKind::timeout, fmt::format("{} did not answer in time", server_),
                "check whether the server is stopped or overloaded"};
  }
  return true;
}

bool ClientConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const Channel::Step step = channel_->send(bytes);
    if (step.now == Channel::Now::moved) {
      bytes.remove_prefix(step.count);
    } else if (!waits(step.now)) {
      return false;
    }
  }
  return true;
}

ClientConnection::Came ClientConnection::receive(AnswerReader& reader) {
  Channel::Step step = channel_->receive(reader.buffer().room());
  while (waits(step.now)) {
    step = channel_->receive(reader.buffer().room());
  }
  if (step.now == Channel::Now::moved) {
    reader.buffer().filled(step.count);
    return reader.step(server_) == AnswerReader::Step::whole ? Came::whole : Came::more;
  }
  if (step.now == Channel::Now::broken && reader.has_begun()) {
    throw Error{ErrorKind::unavailable, fmt::format("the connection to {} broke in the middle of an answer", server_),
                "check whether the server runs"};
  }
  return Came::gone;
}

namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; });
}

void refuse_in(std::string_view what, const std::string& text) {
  throw Error{ErrorKind::invalid_argument, fmt::format("{} of a request may not hold what is in '{}'", what, text),
              "percent-encode it"};
}

}  // namespace

std::string request_text(const ClientPlan& plan, const Request& request) {
  for (const std::string* const text : {&request.method, &request.path, &request.query}) {
    if (has_control(*text) || text->find(' ') != std::string::npos) {
      refuse_in("the line", *text);
    }
  }
  std::string text = fmt::format("{} {}{}{} HTTP/1.1\r\n", request.method, request.path,
                                 request.query.empty() ? "" : "?", request.query);
  if (request.headers.count("Host") == 0) {
    text += fmt::format("Host: {}\r\n", plan.server.unix_path.empty() ? plan.server.host_port : "localhost");
  }
  if (!plan.token.empty()) {
    if (has_control(plan.token)) {
      throw Error{ErrorKind::invalid_argument, "a token has no control characters or line breaks",
                  "give the token alone"};
    }
    text += fmt::format("Authorization: Bearer {}\r\n", plan.token);
  }
  if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD")) {
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  for (const auto& [name, value] : request.headers.all()) {
    if (has_control(name) || has_control(value)) {
      refuse_in("a header", name);
    }
    text += fmt::format("{}: {}\r\n", name, value);
  }
  text += "\r\n";
  text += request.body;
  return text;
}

}  // namespace zeus::transport
