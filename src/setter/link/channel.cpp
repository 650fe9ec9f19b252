#include "setter/link/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace zeus::setter {

namespace {

// Room for one descriptor.
struct Companion {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

bool send_message(int socket, std::span<const std::byte> message, int with, int flags) {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  Companion companion;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (with >= 0) {
    header.msg_control = companion.bytes.data();
    header.msg_controllen = companion.bytes.size();
    cmsghdr* const first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof with);
    std::memcpy(CMSG_DATA(first), &with, sizeof with);
  }
  while (true) {
    if (::sendmsg(socket, &header, flags | MSG_NOSIGNAL) >= 0) {
      return true;
    }
    if (errno != EINTR) {
      return false;
    }
  }
}

}  // namespace

std::array<Channel, 2> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure(errno, "cannot make a socket");
  }
  return {Channel{FileDescriptor{ends[0]}}, Channel{FileDescriptor{ends[1]}}};
}

bool Channel::send(std::span<const std::byte> message, int with) const {
  return send_message(socket_.get(), message, with, 0);
}

bool Channel::send_if_room(std::span<const std::byte> message) const {
  return send_message(socket_.get(), message, -1, MSG_DONTWAIT);
}

std::optional<std::size_t> Channel::receive(std::span<std::byte> buffer, FileDescriptor* with) const {
  iovec part{buffer.data(), buffer.size()};
  Companion companion;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (with != nullptr) {
    header.msg_control = companion.bytes.data();
    header.msg_controllen = companion.bytes.size();
  }
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket_.get(), &header, MSG_TRUNC | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (with != nullptr) {
    with->close();
    const cmsghdr* const first = size > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
    if (first != nullptr && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
        first->cmsg_len == CMSG_LEN(sizeof(int))) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(first), sizeof descriptor);
      *with = FileDescriptor{descriptor};
    }
  }
  return size > 0 ? std::optional{static_cast<std::size_t>(size)} : std::nullopt;
}

void Channel::end() const {
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace zeus::setter
