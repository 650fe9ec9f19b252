// The address of a service of recurring jobs, as people write it: "http://host:8470", "https://ann:TOKEN@host/zeus",
// "unix:/run/zeus/serve.sock". A pure function, but that it reads the certificates of authorities; any thread.
#pragma once

#include "base/environment.hpp"
#include "tls/authorities.hpp"
#include "transport/client.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace zeus::remote_jobs {

struct ServerAddress {
  transport::Endpoint endpoint;
  std::string prefix;                                        // of every path, without a "/" at its end; mostly empty
  std::string token;                                         // the password in the address; empty if it has none
  std::string shown;                                         // for messages: without the token
  std::shared_ptr<const tls::Authorities> authorities = {};  // for https:// alone

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// The environment says which authorities to trust. Throws an invalid_argument Error for anything else; the Error
// never repeats a token.
ServerAddress server_address(std::string_view text, const Environment& environment);

}  // namespace zeus::remote_jobs
