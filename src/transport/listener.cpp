#include "transport/listener.hpp"

#include "transport/address_list.hpp"
#include "transport/host_port.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace zeus::transport {

namespace {

constexpr int most_unaccepted = 1024;  // connections not yet accepted

std::filesystem::path lock_of(const std::filesystem::path& path) {
  return path.string() + ".lock";
}

Error is_live(const std::filesystem::path& path) {
  return {ErrorKind::conflict, fmt::format("another server listens on {} already", path.string()),
          "end that server, or choose another path"};
}

bool is_file_at(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

// The lock's previous holder may have removed the file between our opening and our locking it. Only a lock on the file
// that is still there counts.
FileDescriptor lock_for(const std::filesystem::path& path) {
  const std::filesystem::path name = lock_of(path);
  while (true) {
    FileDescriptor lock{
        ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)};
    if (!lock) {
      throw system_failure(errno, fmt::format("cannot open the lock {}", name.string()));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        throw is_live(path);
      }
      throw system_failure(errno, fmt::format("cannot lock {}", name.string()));
    }
    if (is_file_at(lock, name)) {
      return lock;
    }
  }
}

// A server that does not use our lock may listen there.
bool is_listened_on(const std::filesystem::path& path, const sockaddr_un& address) {
  const FileDescriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!probe) {
    throw system_failure(errno, "cannot make a socket");
  }
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN) {
    return true;
  }
  if (errno == ECONNREFUSED || errno == ENOENT) {
    return false;
  }
  throw system_failure(errno, fmt::format("cannot find out whether a server listens on {}", path.string()));
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the path of a socket has at most {} bytes, and '{}' has {}", sizeof address.sun_path - 1,
                            path, path.size()),
                "choose a shorter path"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// A folder beside the socket's place that no one else can enter; removed with its contents at the end.
class ClosedFolder {
 public:
  explicit ClosedFolder(const std::filesystem::path& beside) : name_{beside.string() + ".XXXXXX"} {
    if (::mkdtemp(name_.data()) == nullptr) {
      throw system_failure(errno, fmt::format("cannot make a folder beside {}", beside.string()));
    }
    folder_ = FileDescriptor{::open(name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
  }
  ClosedFolder(const ClosedFolder&) = delete;
  ClosedFolder& operator=(const ClosedFolder&) = delete;
  ~ClosedFolder() {
    ::unlink(inside().c_str());
    ::rmdir(name_.c_str());
  }
  [[nodiscard]] std::string inside() const { return name_ + "/socket"; }
  // Another name of the socket in it, short enough for a socket's address.
  [[nodiscard]] std::string short_name() const { return fmt::format("/proc/self/fd/{}/socket", folder_.get()); }

 private:
  std::string name_;
  FileDescriptor folder_;
};

void require(int result, const std::filesystem::path& path) {
  if (result != 0) {
    throw system_failure(errno, fmt::format("cannot listen on {}", path.string()));
  }
}

void make_parents(const std::filesystem::path& path) {
  std::error_code error;
  if (const std::filesystem::path parent = path.parent_path(); !parent.empty()) {
    std::filesystem::create_directories(parent, error);
    if (error) {
      throw system_failure(error.value(), fmt::format("cannot make the folder {}", parent.string()));
    }
  }
}

// Throws an Error of the kind conflict if a server listens there now.
UnixListener listen_now(const UnixSocketPlan& plan) {
  const sockaddr_un address = unix_address(plan.path.string());
  make_parents(plan.path);
  UnixListener made;
  made.lock = lock_for(plan.path);
  struct stat there {};
  if (::lstat(plan.path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) {
      throw Error{ErrorKind::invalid_argument, fmt::format("{} exists and is not a socket", plan.path.string()),
                  "remove it if it is not needed, or choose another path"};
    }
    if (is_listened_on(plan.path, address)) {
      throw is_live(plan.path);
    }
  } else if (errno != ENOENT) {
    throw system_failure(errno, fmt::format("cannot look at {}", plan.path.string()));
  }
  const ClosedFolder folder{plan.path};
  const std::string inside = folder.inside();
  const sockaddr_un hidden = unix_address(folder.short_name());
  made.socket = FileDescriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  require(made.socket ? 0 : -1, plan.path);
  require(::bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&hidden), sizeof hidden), plan.path);
  if (plan.user || plan.group) {
    constexpr auto unchanged = static_cast<uid_t>(-1);
    require(::lchown(inside.c_str(), plan.user.value_or(unchanged), plan.group.value_or(unchanged)), plan.path);
  }
  require(::chmod(inside.c_str(), plan.mode), plan.path);
  require(::listen(made.socket.get(), most_unaccepted), plan.path);
  struct stat socket {};
  require(::lstat(inside.c_str(), &socket), plan.path);
  made.device = socket.st_dev;
  made.inode = socket.st_ino;
  require(::rename(inside.c_str(), plan.path.c_str()), plan.path);
  return made;
}

}  // namespace

UnixListener listen_on_unix(const UnixSocketPlan& plan) {
  constexpr int pause_ms = 20;
  for (int left_ms = static_cast<int>(Milliseconds{plan.patience}.value());; left_ms -= pause_ms) {
    try {
      return listen_now(plan);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::conflict || left_ms <= 0) {
        throw;
      }
    }
    ::poll(nullptr, 0, pause_ms);
  }
}

void remove_unix_socket(const std::filesystem::path& path, const UnixListener& listener) {
  const std::filesystem::path lock = lock_of(path);
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0 && there.st_dev == listener.device && there.st_ino == listener.inode) {
    ::unlink(path.c_str());
  }
  if (is_file_at(listener.lock, lock)) {
    ::unlink(lock.c_str());
  }
}

std::vector<FileDescriptor> listen_on_tcp(const std::string& address) {
  const auto [host, port] = split_host_port(address);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &wanted, &list);
      error != 0) {
    throw Error{ErrorKind::invalid_argument, fmt::format("cannot listen on {}: {}", address, ::gai_strerror(error)),
                "give an address of this machine and a port, as 127.0.0.1:4938"};
  }
  const AddressList found{list};
  std::vector<FileDescriptor> sockets;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    FileDescriptor socket{::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket && errno == EAFNOSUPPORT) {
      continue;
    }
    const int yes = 1;
    const auto set = [&](int level, int option) {
      return ::setsockopt(socket.get(), level, option, &yes, sizeof yes) == 0;
    };
    if (!socket || !set(SOL_SOCKET, SO_REUSEADDR) || (each->ai_family == AF_INET6 && !set(IPPROTO_IPV6, IPV6_V6ONLY)) ||
        ::bind(socket.get(), each->ai_addr, each->ai_addrlen) != 0 || ::listen(socket.get(), most_unaccepted) != 0) {
      if (errno == EADDRINUSE) {
        throw Error{ErrorKind::conflict, fmt::format("another server listens on {} already", address),
                    "end that server, or choose another port"};
      }
      if (errno == EADDRNOTAVAIL && each->ai_next != nullptr) {
        continue;  // localhost's ::1 where there is no IPv6
      }
      throw system_failure(errno, fmt::format("cannot listen on {}", address));
    }
    sockets.push_back(std::move(socket));
  }
  if (sockets.empty()) {
    throw Error{ErrorKind::unavailable, fmt::format("cannot listen on {}: it has no address here", address),
                "give an address of this machine"};
  }
  return sockets;
}

std::string address_of(const FileDescriptor& tcp_socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(tcp_socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw system_failure(errno, "cannot learn where a socket listens");
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto* const numbers = reinterpret_cast<const sockaddr_in6*>(&address);
    ::inet_ntop(AF_INET6, &numbers->sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(numbers->sin6_port));
  }
  const auto* const numbers = reinterpret_cast<const sockaddr_in*>(&address);
  ::inet_ntop(AF_INET, &numbers->sin_addr, text.data(), text.size());
  return fmt::format("{}:{}", text.data(), ntohs(numbers->sin_port));
}

}  // namespace zeus::transport
