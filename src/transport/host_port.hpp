// Splits "host:port" into its two parts. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::transport {

struct HostPort {
  std::string host;
  std::string port;
};

// Reads "127.0.0.1:4938", "[::1]:0", "localhost:4938". Throws an invalid_argument Error without a port.
HostPort split_host_port(std::string_view text);

}  // namespace zeus::transport
