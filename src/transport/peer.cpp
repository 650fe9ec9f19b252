#include "transport/peer.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "transport/peer_of.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // NOLINT(readability-identifier-naming)
#endif

namespace zeus::transport {

namespace {

std::optional<ucred> credentials_of(int socket) {
  ucred found{};
  socklen_t length = sizeof found;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &length) != 0) {
    return std::nullopt;
  }
  return found;
}

std::vector<gid_t> groups_of(int socket) {
  std::vector<gid_t> groups(32);
  while (true) {
    auto length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) == 0) {
      groups.resize(length / sizeof(gid_t));
      return groups;
    }
    if (errno != ERANGE || length / sizeof(gid_t) <= groups.size()) {
      return {};
    }
    groups.resize(length / sizeof(gid_t));
  }
}

bool has_ended(const FileDescriptor& process) {
  pollfd asked{process.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) != 0;
}

// The kernel's ticks since boot, the unit in which it reports a process's start.
std::optional<std::uint64_t> ticks_since_boot(const FileTree& machine) {
  const std::optional<std::string> line = machine.read_line("proc/uptime");
  double seconds = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), seconds).ec != std::errc{}) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::llround(seconds * static_cast<double>(::sysconf(_SC_CLK_TCK))));
}

// Before Linux 6.5 the kernel reports the process ID alone. Takes the process that has this ID now, unless it began
// after the connection was accepted.
FileDescriptor process_by_number(const FileTree& machine, pid_t pid) {
  const std::optional<std::uint64_t> accepted = ticks_since_boot(machine);
  FileDescriptor process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))};
  const std::optional<Holder> holder = process ? find_holder(machine, pid) : std::nullopt;
  return accepted && holder && holder->started <= *accepted ? std::move(process) : FileDescriptor{};
}

}  // namespace

LocalPeer local_peer_of(int socket) {
  LocalPeer peer;
  const std::optional<ucred> credentials = credentials_of(socket);
  if (!credentials) {
    throw system_failure(errno, "cannot learn who has connected");
  }
  peer.pid = credentials->pid;
  peer.user = credentials->uid;
  peer.group = credentials->gid;
  peer.groups = groups_of(socket);
  if (peer.pid <= 0) {
    peer.pid = 0;
    return peer;
  }
  const FileTree machine;
  int descriptor = -1;
  socklen_t length = sizeof descriptor;
  FileDescriptor process;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) == 0) {
    process = FileDescriptor{descriptor};
  } else if (errno == ENOPROTOOPT) {
    process = process_by_number(machine, peer.pid);
  }
  if (!process) {
    return peer;
  }
  // The ID belongs to this process until it has ended, and is not used again before.
  const std::optional<Holder> holder = find_holder(machine, peer.pid);
  if (!has_ended(process)) {
    peer.started = holder ? holder->started : 0;
    peer.process = std::make_shared<const FileDescriptor>(std::move(process));
  }
  return peer;
}

uid_t user_of(int socket) {
  const std::optional<ucred> credentials = credentials_of(socket);
  return credentials ? credentials->uid : static_cast<uid_t>(-1);
}

bool is_unix_socket(int socket) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

std::string address_of_peer(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return {};
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const numbers = address.ss_family == AF_INET6
                                  ? static_cast<const void*>(&reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr)
                                  : static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(&address)->sin_addr);
  return ::inet_ntop(address.ss_family, numbers, text.data(), text.size()) == nullptr ? std::string{} : text.data();
}

}  // namespace zeus::transport
