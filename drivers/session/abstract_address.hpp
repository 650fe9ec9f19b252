// The address of an abstract socket (it begins with a zero byte), which leaves no file behind. A plain value; any
// thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace zeus::drivers {

struct AbstractAddress {
  sockaddr_un socket{};
  socklen_t length = 0;

  // `name` must fit into a sockaddr_un after the zero byte.
  explicit AbstractAddress(std::string_view name)
      : length{static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())} {
    socket.sun_family = AF_UNIX;
    std::ranges::copy(name, &socket.sun_path[1]);
  }
};

}  // namespace zeus::drivers
