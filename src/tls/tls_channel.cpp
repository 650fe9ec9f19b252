#include "tls/tls_channel.hpp"

#include "base/printable.hpp"
#include "tls/socket_bio.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <utility>

namespace zeus::tls {

namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::string text_of(const ASN1_STRING* value) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
          static_cast<std::size_t>(ASN1_STRING_length(value))};
}

std::string address_in(const ASN1_OCTET_STRING* value) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(value) == sizeof(in_addr) ? AF_INET : AF_INET6;
  const bool is_one = family == AF_INET || ASN1_STRING_length(value) == sizeof(in6_addr);
  return is_one && ::inet_ntop(family, ASN1_STRING_get0_data(value), text.data(), text.size()) != nullptr ? text.data()
                                                                                                          : "?";
}

// The hosts that a certificate is for, as "a, b".
std::string names_in(const X509* certificate) {
  constexpr std::size_t most_bytes = 200;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all{
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free};
  std::string names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all.get(), i);
    const bool is_name = name->type == GEN_DNS;
    if (is_name || name->type == GEN_IPADD) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ",
                           is_name ? text_of(name->d.dNSName) : address_in(name->d.iPAddress));
    }
  }
  return shortened(printable(names), most_bytes);
}

std::string day_of(const ASN1_TIME* time) {
  std::tm day{};
  return ASN1_TIME_to_tm(time, &day) == 1
             ? fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday)
             : "an unreadable day";
}

}  // namespace

TlsChannel::TlsChannel(SSL_CTX& context, int socket, std::string server, std::string host)
    : server_{std::move(server)}, host_{std::move(host)}, ssl_{SSL_new(&context)} {
  BIO* const bio = ssl_ ? socket_bio(socket) : nullptr;
  if (bio == nullptr) {
    throw Error{ErrorKind::internal, "there is no memory for a TLS connection"};
  }
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_connect_state(ssl_.get());
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, look_at_certificate);
  SSL_set_hostflags(ssl_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool checks = is_address(host_) ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host_.c_str()) == 1
                                        : SSL_set1_host(ssl_.get(), host_.c_str()) == 1 &&
                                              SSL_set_tlsext_host_name(ssl_.get(), host_.c_str()) == 1;
  if (!checks) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not the name of a host", in_quotes(host_)),
                "give the name that the server's certificate is for"};
  }
}

// Called for each certificate of the chain; a refused one is described, and stays refused.
int TlsChannel::look_at_certificate(int is_trusted, X509_STORE_CTX* chain) {
  if (is_trusted == 0) {
    const auto* const ssl =
        static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto& self = *static_cast<TlsChannel*>(SSL_get_app_data(ssl));
    const int why = X509_STORE_CTX_get_error(chain);
    const X509* const refused = X509_STORE_CTX_get_current_cert(chain);
    if (const X509* const own = X509_STORE_CTX_get0_cert(chain); own != nullptr) {
      self.names_ = names_in(own);
    }
    if (refused != nullptr) {
      self.expired_ =
          day_of(why == X509_V_ERR_CERT_NOT_YET_VALID ? X509_get0_notBefore(refused) : X509_get0_notAfter(refused));
    }
  }
  return is_trusted;
}

Error TlsChannel::refusal_of_certificate(long why) const {
  const auto unavailable = [&](const std::string& what, std::string advice) {
    return Error{ErrorKind::unavailable, fmt::format("the certificate of {} {}", server_, what), std::move(advice)};
  };
  constexpr const char* renew = "check this machine's clock, or ask the server's administrator for a new certificate";
  switch (why) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return unavailable(
          fmt::format("is not for {}, but for {}", in_quotes(host_), names_.empty() ? "no host" : names_),
          "name the server as its certificate does");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return unavailable(fmt::format("expired on {}", expired_), renew);
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return unavailable(fmt::format("is valid from {} on", expired_), renew);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return unavailable("is self-signed", "to trust it, set ZEUS_CA_FILE to a copy of it");
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return unavailable("is signed by an authority that this machine does not trust",
                         "set ZEUS_CA_FILE to the authority's certificate");
    default:
      return unavailable(fmt::format("is not valid: {}", X509_verify_cert_error_string(why)),
                         "ask the server's administrator for a new one");
  }
}

// Of the handshake that has just failed.
Error TlsChannel::refusal() const {
  if (const long why = SSL_get_verify_result(ssl_.get()); why != X509_V_OK) {
    return refusal_of_certificate(why);
  }
  const auto unavailable = [](std::string what, std::string advice) {
    return Error{ErrorKind::unavailable, std::move(what), std::move(advice)};
  };
  const unsigned long error = ERR_peek_error();
  const bool is_tls = ERR_GET_LIB(error) == ERR_LIB_SSL;
  switch (is_tls ? ERR_GET_REASON(error) : 0) {
    case 0:
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return unavailable(fmt::format("{} closed the connection before it was secured by TLS", server_),
                         "check whether the server runs, and write http:// if it does not use TLS");
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
      return unavailable(fmt::format("{} does not answer with TLS", server_),
                         "check the port, and write http:// if that server is meant");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return unavailable(fmt::format("{} offers neither TLS 1.2 nor 1.3", server_),
                         "ask the server's administrator to allow one of them");
    default: {
      const char* const reason = ERR_reason_error_string(error);
      return unavailable(fmt::format("the TLS handshake with {} failed: {}", server_,
                                     reason == nullptr ? "no reason is known" : reason),
                         "ask the server's administrator what its log says");
    }
  }
}

// What to do after a call that returned `result`, having moved `count` bytes.
transport::Channel::Step TlsChannel::step_after(int result, std::size_t count) const {
  if (result == 1) {
    return {Now::moved, count};
  }
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Now::wants_to_read};
    case SSL_ERROR_WANT_WRITE:
      return {Now::wants_to_write};
    case SSL_ERROR_ZERO_RETURN:
      return {Now::ended};
    default:
      return {Now::broken};
  }
}

transport::Channel::Step TlsChannel::greet() {
  ERR_clear_error();
  const Step step = step_after(SSL_connect(ssl_.get()), 0);
  if (step.now == Now::ended || step.now == Now::broken) {
    throw refusal();
  }
  return step;
}

transport::Channel::Step TlsChannel::send(std::string_view bytes) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
  return step_after(result, count);
}

transport::Channel::Step TlsChannel::receive(std::span<char> room) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &count);
  return step_after(result, count);
}

// Reads what TLS itself sends between two answers, such as the tickets of TLS 1.3.
bool TlsChannel::is_quiet() {
  ERR_clear_error();
  char next = 0;
  std::size_t count = 0;
  const int result = SSL_peek_ex(ssl_.get(), &next, 1, &count);
  return step_after(result, count).now == Now::wants_to_read;
}

}  // namespace zeus::tls
