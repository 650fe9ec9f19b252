// A connection by TLS, as its client. For this module alone, and its tests. One thread at a time.
#pragma once

#include "transport/channel.hpp"

#include <zeus/error.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace zeus::tls {

class TlsChannel final : public transport::Channel {
 public:
  // `server` names it in messages; its certificate must be for `host`, a name or an address.
  TlsChannel(SSL_CTX& context, int socket, std::string server, std::string host);
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;
  ~TlsChannel() override = default;

  Step greet() override;
  Step send(std::string_view bytes) override;
  Step receive(std::span<char> room) override;
  bool is_quiet() override;

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  static int look_at_certificate(int is_trusted, X509_STORE_CTX* chain);
  [[nodiscard]] Step step_after(int result, std::size_t count) const;
  [[nodiscard]] Error refusal() const;
  [[nodiscard]] Error refusal_of_certificate(long why) const;

  std::string server_;
  std::string host_;
  std::string names_;    // those of a certificate that was not accepted
  std::string expired_;  // when it did, or will
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace zeus::tls
