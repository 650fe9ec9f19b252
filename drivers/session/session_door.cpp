#include "drivers/session/session_door.hpp"

#include "base/background_thread.hpp"
#include "drivers/session/abstract_address.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace zeus::drivers {

namespace {

constexpr int most_waiting = 64;
constexpr int patience_ms = 2000;
constexpr int pause_without_room_ms = 100;

AbstractAddress address_of_door(std::uint64_t token) {
  return AbstractAddress{fmt::format("zeus-virtual-shared/{:016x}", token)};
}

// A message of one byte with room for a descriptor.
struct Parcel {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};

  Parcel() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  ~Parcel() = default;
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
};

void give(int connection, int file) {
  Parcel parcel;
  cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &file, sizeof file);
  static_cast<void>(::sendmsg(connection, &parcel.message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace

SessionDoor::SessionDoor(std::uint64_t token, int file, Admission admission)
    : admission_{admission},
      socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)},
      closing_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  const AbstractAddress address = address_of_door(token);
  if (!socket_ || !closing_ ||
      ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.length) != 0 ||
      ::listen(socket_.get(), most_waiting) != 0) {
    throw system_failure(errno, "cannot open a session of virtual GPUs to other processes");
  }
  thread_ = background_thread([this, file] { serve(file); });
}

SessionDoor::~SessionDoor() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = ::write(closing_.get(), &one, sizeof one);
  thread_.join();
}

void SessionDoor::serve(int file) const {
  while (true) {
    std::array<pollfd, 2> asked{pollfd{socket_.get(), POLLIN, 0}, pollfd{closing_.get(), POLLIN, 0}};
    if (::poll(asked.data(), asked.size(), -1) > 0 && asked[1].revents != 0) {
      return;
    }
    const FileDescriptor connection{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (connection && admits(connection.get())) {
      give(connection.get(), file);
    } else if (!connection && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      // It stays in the queue.
      ::poll(&asked[1], 1, pause_without_room_ms);
    }
  }
}

bool SessionDoor::admits(int connection) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  return admission_ == Admission::all_users ||
         (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid());
}

FileDescriptor SessionDoor::knock(std::uint64_t token) {
  const AbstractAddress address = address_of_door(token);
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.length) != 0) {
    return {};
  }
  Parcel parcel;
  pollfd asked{socket.get(), POLLIN, 0};
  if (::poll(&asked, 1, patience_ms) <= 0 || ::recvmsg(socket.get(), &parcel.message, MSG_CMSG_CLOEXEC) <= 0) {
    return {};
  }
  const cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int file = -1;
  std::memcpy(&file, CMSG_DATA(head), sizeof file);
  return FileDescriptor{file};
}

}  // namespace zeus::drivers
