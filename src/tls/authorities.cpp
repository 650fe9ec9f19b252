#include "tls/authorities.hpp"

#include "base/printable.hpp"
#include "tls/tls_channel.hpp"
#include "transport/host_port.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>

namespace zeus::tls {

namespace {

constexpr const char* how_to_name_a_file = "set ZEUS_CA_FILE to a file of certificates in PEM form, or unset it";

std::string reason_of_the_first_error() {
  const unsigned long error = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(error)) {
    return std::strerror(ERR_GET_REASON(error));
  }
  const char* const reason = ERR_reason_error_string(error);
  return reason == nullptr ? "there is none in it" : reason;
}

std::shared_ptr<SSL_CTX> strict_context() {
  // Without OpenSSL's exit handler, which would take its state from under a thread that reports while its program ends.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    throw Error{ErrorKind::internal, fmt::format("TLS cannot be used: {}", reason_of_the_first_error())};
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

}  // namespace

Authorities::Authorities(const std::string& file) {
  ERR_clear_error();
  context_ = strict_context();
  if (file.empty()) {
    SSL_CTX_set_default_verify_paths(context_.get());
  } else if (SSL_CTX_load_verify_file(context_.get(), file.c_str()) != 1) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the certificates in {} cannot be read: {}", in_quotes(file), reason_of_the_first_error()),
                how_to_name_a_file};
  }
}

std::shared_ptr<const Authorities> Authorities::of(const Environment& environment) {
  return std::make_shared<const Authorities>(environment.get("ZEUS_CA_FILE").value_or(""));
}

transport::ChannelOver Authorities::channel_to(const std::string& host_port) const {
  return [context = context_, server = host_port, host = transport::split_host_port(host_port).host](int socket) {
    return std::make_unique<TlsChannel>(*context, socket, server, host);
  };
}

}  // namespace zeus::tls
