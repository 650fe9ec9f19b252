// The address of a service of recurring jobs, as people write it: "http://host:8470", "http://ann:TOKEN@host/zeus",
// "unix:/run/zeus/serve.sock". A pure function; any thread.
#pragma once

#include "transport/client.hpp"

#include <string>
#include <string_view>

namespace zeus::remote_jobs {

struct ServerAddress {
  transport::Endpoint endpoint;
  std::string prefix;  // of every path, without a "/" at its end; mostly empty
  std::string token;   // the password in the address; empty if it has none
  std::string shown;   // for messages: without the token

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// Throws an invalid_argument Error for anything else; the Error never repeats a token.
ServerAddress server_address(std::string_view text);

}  // namespace zeus::remote_jobs
