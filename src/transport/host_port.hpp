// "host:port" in its two parts. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::transport {

struct HostPort {
  std::string host;
  std::string port;
};

// Of "127.0.0.1:4938", "[::1]:0", "localhost:4938". What has no port is an invalid_argument Error.
HostPort split_host_port(std::string_view text);

}  // namespace zeus::transport
