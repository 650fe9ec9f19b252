#include "drivers/session/session_name.hpp"

#include "drivers/session/abstract_address.hpp"
#include "drivers/session/segment.hpp"

#include <zeus/error.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace zeus::drivers {

namespace {

constexpr std::size_t longest_name = 48;
// These connections are never accepted; they only show who holds the name. Each takes a place until the holder ends.
constexpr int most_visitors = 4096;

AbstractAddress address_of_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
  if (name.empty() || name.size() > longest_name || !plain) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'{}' is not a valid session name", name.substr(0, 64)),
                fmt::format("use 1 to {} letters, digits, '.', '_' and '-'", longest_name)};
  }
  return AbstractAddress{fmt::format("zeus-virtual/{}/{}", ::getuid(), name)};
}

FileDescriptor make_socket() {
  FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) {
    throw system_failure(errno, "cannot make a socket");
  }
  return socket;
}

}  // namespace

std::optional<SessionName> SessionName::claim(std::string_view name) {
  const AbstractAddress address = address_of_name(name);
  FileDescriptor socket = make_socket();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.length) != 0) {
    if (errno == EADDRINUSE) {
      return std::nullopt;
    }
    throw system_failure(errno, fmt::format("cannot take the session name '{}'", name));
  }
  if (::listen(socket.get(), most_visitors) != 0) {
    throw system_failure(errno, fmt::format("cannot take the session name '{}'", name));
  }
  return SessionName{std::move(socket)};
}

std::optional<std::string> SessionName::reference(std::string_view name) {
  const AbstractAddress address = address_of_name(name);
  const FileDescriptor socket = make_socket();
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.length) != 0) {
    return std::nullopt;
  }
  ucred holder{};
  socklen_t length = sizeof(holder);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &holder, &length) != 0 || holder.uid != ::getuid()) {
    return std::nullopt;
  }
  return Segment::find(holder.pid);
}

}  // namespace zeus::drivers
