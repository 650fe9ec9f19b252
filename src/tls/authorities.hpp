// The certificate authorities whose servers are trusted, and connections to such servers by TLS 1.2 or newer. There is
// no way to connect without checking. Immutable once made; any thread.
#pragma once

#include "base/environment.hpp"
#include "transport/channel.hpp"

#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;

namespace zeus::tls {

class Authorities {
 public:
  // Those in this file of PEM certificates alone; empty: the system's. Throws an invalid_argument Error if the file
  // cannot be read.
  explicit Authorities(const std::string& file);
  // Of the file that ZEUS_CA_FILE names, or the system's: the one place that says so.
  static std::shared_ptr<const Authorities> of(const Environment& environment);

  // To a server at "host:port", whose certificate must be for that host. The channel may outlive this object. Its
  // greeting is the handshake: it throws an unavailable Error that says what is wrong with the server, and what to do.
  [[nodiscard]] transport::ChannelOver channel_to(const std::string& host_port) const;

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace zeus::tls
