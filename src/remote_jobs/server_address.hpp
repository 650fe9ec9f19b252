// Where a service of recurring jobs is, as people write it: "http://host:8470", "http://ann:TOKEN@host/zeus",
// "unix:/run/zeus/serve.sock". A pure function; any thread.
#pragma once

#include "transport/client.hpp"

#include <string>
#include <string_view>

namespace zeus::remote_jobs {

struct ServerAddress {
  transport::Endpoint endpoint;
  std::string prefix;  // of every path, without a "/" at its end; empty for most
  std::string token;   // the address's password; empty where it has none
  std::string shown;   // for messages: without the token

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// An invalid_argument Error for what is no such address, which does not repeat a token.
ServerAddress server_address(std::string_view text);

}  // namespace zeus::remote_jobs
