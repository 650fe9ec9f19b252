#include "base/systemd.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zeus {

namespace {

std::optional<std::int64_t> number_in(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment.get(name);
  std::int64_t number = 0;
  if (!text) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc{} && end == text->data() + text->size() ? std::optional{number} : std::nullopt;
}

bool is_for_us(const Environment& environment, std::string_view name) {
  const std::optional<std::int64_t> process = number_in(environment, name);
  return !process || *process == ::getpid();
}

}  // namespace

std::vector<FileDescriptor> inherited_sockets(const Environment& environment) {
  constexpr int first = 3;
  constexpr std::int64_t most = 64;
  std::vector<FileDescriptor> sockets;
  if (!environment.get("LISTEN_PID") || !is_for_us(environment, "LISTEN_PID")) {
    return sockets;
  }
  const auto count =
      static_cast<int>(std::clamp(number_in(environment, "LISTEN_FDS").value_or(0), std::int64_t{0}, most));
  for (int i = 0; i < count; ++i) {
    ::fcntl(first + i, F_SETFD, FD_CLOEXEC);
    sockets.emplace_back(first + i);
  }
  return sockets;
}

Supervisor::Supervisor(const Environment& environment) : address_{environment.get("NOTIFY_SOCKET").value_or("")} {
  if (address_.size() >= sizeof(sockaddr_un::sun_path)) {
    address_.clear();
  }
  const std::optional<std::int64_t> microseconds = number_in(environment, "WATCHDOG_USEC");
  if (microseconds && *microseconds > 0 && is_for_us(environment, "WATCHDOG_PID")) {
    watchdog_ = Seconds{static_cast<double>(*microseconds) * 1e-6};
  }
}

void Supervisor::tell(std::string_view state) const noexcept {
  if (address_.empty()) {
    return;
  }
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  if (address.sun_path[0] == '@') {
    address.sun_path[0] = '\0';  // an abstract address
  }
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // Nothing depends on it except the supervisor's view of us.
  static_cast<void>(::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), size));
}

}  // namespace zeus
