#include "tls/tls_channel.hpp"

#include "base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tls/authorities.hpp"
#include "transport/client.hpp"
#include "transport/listener.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zeus::tls {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Now = transport::Channel::Now;

constexpr long day_s = 24L * 60 * 60;

// A key and its certificate.
struct Identity {
  std::shared_ptr<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::shared_ptr<X509> certificate{X509_new(), X509_free};
};

struct Wanted {
  std::string names = "DNS:jobs.example";  // as OpenSSL's configuration has them; empty: none
  std::string subject = "a server";
  long from_s = -day_s;  // from now
  long until_s = day_s;
  bool is_authority = false;
};

void add_extension(X509& certificate, int which, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `authority`, or by itself.
Identity identity(const Wanted& wanted, const Identity* authority = nullptr) {
  static long serial = 0;
  Identity made;
  X509& certificate = *made.certificate;
  X509_set_version(&certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(&certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(&certificate), wanted.from_s);
  X509_gmtime_adj(X509_getm_notAfter(&certificate), wanted.until_s);
  X509_set_pubkey(&certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(wanted.subject.c_str()), -1, -1, 0);
  const Identity& signer = authority == nullptr ? made : *authority;
  X509_set_issuer_name(&certificate, X509_get_subject_name(signer.certificate.get()));
  add_extension(certificate, NID_basic_constraints, wanted.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wanted.names.empty()) {
    add_extension(certificate, NID_subject_alt_name, wanted.names);
  }
  X509_sign(&certificate, signer.key.get(), EVP_sha256());
  return made;
}

const Identity& authority() {
  static const Identity made = identity({.names = "", .subject = "an authority", .is_authority = true});
  return made;
}

const Identity& usual_server() {
  static const Identity made = identity({}, &authority());
  return made;
}

// Who believes servers that `believed` has signed.
Authorities believing(const Identity& believed) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "ca.pem").string();
  const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new_file(file.c_str(), "w"), BIO_free};
  PEM_write_bio_X509(out.get(), believed.certificate.get());
  BIO_flush(out.get());
  return Authorities{file};
}

// A server by OpenSSL at one end of a pair of sockets, whose other end is a client's. Nothing waits: bytes lie in its
// memory until they are passed on, any number at a time.
class Server {
 public:
  explicit Server(const Identity& own, int newest = TLS1_3_VERSION)
      : context_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free} {
    if (newest < TLS1_2_VERSION) {
      SSL_CTX_set_security_level(context_.get(), 0);
      SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    }
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    SSL_CTX_use_certificate(context_.get(), own.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), own.key.get());
    ssl_.reset(SSL_new(context_.get()), SSL_free);
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    mine_ = FileDescriptor{ends[0]};
    theirs_ = FileDescriptor{ends[1]};
  }

  [[nodiscard]] int client_socket() const { return theirs_.get(); }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }

  // Takes what the client has sent, and goes on with the handshake.
  void take() {
    std::array<char, 4096> room{};
    for (ssize_t count = 1; count > 0;) {
      count = ::recv(mine_.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (count > 0) {
        BIO_write(SSL_get_rbio(ssl_.get()), room.data(), static_cast<int>(count));
      }
    }
    if (!SSL_is_init_finished(ssl_.get())) {
      SSL_do_handshake(ssl_.get());
    }
  }
  void say(std::string_view words) { SSL_write(ssl_.get(), words.data(), static_cast<int>(words.size())); }
  void say_that_it_ends() { SSL_shutdown(ssl_.get()); }
  std::string heard() {
    take();
    std::array<char, 1000> room{};
    const int count = SSL_read(ssl_.get(), room.data(), static_cast<int>(room.size()));
    return {room.data(), static_cast<std::size_t>(std::max(count, 0))};
  }

  [[nodiscard]] std::size_t waiting() const { return BIO_ctrl_pending(SSL_get_wbio(ssl_.get())); }
  // Passes on what waits, but no more than these bytes; returns how many.
  std::size_t give(std::size_t most = static_cast<std::size_t>(-1)) {
    std::vector<char> bytes(std::min(most, waiting()));
    if (!bytes.empty()) {
      BIO_read(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
      EXPECT_EQ(::send(mine_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    return bytes.size();
  }
  void give_plain(std::string_view words) {
    EXPECT_EQ(::send(mine_.get(), words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  }
  void close() { mine_.close(); }

 private:
  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> ssl_;
  FileDescriptor mine_;
  FileDescriptor theirs_;
};

std::unique_ptr<transport::Channel> client_of(const Server& server, const Authorities& authorities,
                                              const std::string& host_port = "jobs.example:443") {
  return authorities.channel_to(host_port)(server.client_socket());
}

// Greets until it is over, with pieces of this many bytes from the server.
void greet(transport::Channel& client, Server& server, std::size_t piece = static_cast<std::size_t>(-1)) {
  for (int i = 0; client.greet().now != Now::moved; ++i) {
    ASSERT_LT(i, 100000);
    server.take();
    server.give(piece);
  }
  server.take();
}

// What the client hears until nothing more is there, and how that ended.
std::pair<std::string, Now> heard_by(transport::Channel& client) {
  std::string all;
  std::array<char, 100> room{};
  transport::Channel::Step step = client.receive(room);
  for (; step.now == Now::moved; step = client.receive(room)) {
    all.append(room.data(), step.count);
  }
  return {all, step.now};
}

std::string refusal_of(const Identity& own, const Authorities& authorities, const std::string& host_port,
                       int newest = TLS1_3_VERSION) {
  Server server{own, newest};
  const auto client = client_of(server, authorities, host_port);
  try {
    greet(*client, server);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_FALSE(error.advice().empty());
    return error.what();
  }
  return "it was accepted";
}

std::string day_in(long seconds) {
  const std::time_t time = std::time(nullptr) + seconds;
  std::tm day{};
  ::gmtime_r(&time, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

TEST(TlsChannel, SpeaksWithAServerThatItsAuthoritiesHaveSigned) {
  const Authorities authorities = believing(authority());
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Server server{usual_server(), newest};
    const auto client = client_of(server, authorities);
    greet(*client, server);
    EXPECT_EQ(SSL_version(server.ssl()), newest);
    EXPECT_STREQ(SSL_get_servername(server.ssl(), TLSEXT_NAMETYPE_host_name), "jobs.example");
    EXPECT_EQ(client->send("a question").count, 10U);
    EXPECT_EQ(server.heard(), "a question");
    server.say("an answer");
    server.give();
    EXPECT_EQ(heard_by(*client), std::pair(std::string{"an answer"}, Now::wants_to_read));
    server.say_that_it_ends();
    server.give();
    EXPECT_EQ(heard_by(*client), std::pair(std::string{}, Now::ended));
  }
}

TEST(TlsChannel, AcceptsEachWayToNameAHost) {
  const Authorities authorities = believing(authority());
  const auto reply = [&](const std::string& names, const std::string& host_port) {
    return refusal_of(identity({.names = names}, &authority()), authorities, host_port);
  };
  EXPECT_EQ(reply("DNS:a.example,DNS:b.example", "b.example:443"), "it was accepted");
  EXPECT_EQ(reply("DNS:*.zeus.example", "b.zeus.example:8443"), "it was accepted");
  EXPECT_EQ(reply("IP:127.0.0.1", "127.0.0.1:443"), "it was accepted");
  EXPECT_EQ(reply("IP:::1", "[::1]:443"), "it was accepted");
  const Identity alone = identity({});
  EXPECT_EQ(refusal_of(alone, believing(alone), "jobs.example:443"), "it was accepted");
}

TEST(TlsChannel, SendsNoAddressAsTheNameOfAServer) {
  Server server{identity({.names = "IP:127.0.0.1"}, &authority())};
  const Authorities authorities = believing(authority());
  const auto client = client_of(server, authorities, "127.0.0.1:443");
  greet(*client, server);
  EXPECT_EQ(SSL_get_servername(server.ssl(), TLSEXT_NAMETYPE_host_name), nullptr);
}

TEST(TlsChannel, SaysWhatIsWrongWithAServerAndWhatToDo) {
  const Authorities authorities = believing(authority());
  EXPECT_EQ(
      refusal_of(usual_server(), authorities, "other.example:443"),
      "the certificate of other.example:443 is not for 'other.example', but for jobs.example; name the server as its "
      "certificate does");
  EXPECT_EQ(
      refusal_of(identity({.names = "IP:10.0.0.1,IP:fe80::1"}, &authority()), authorities, "127.0.0.1:443"),
      "the certificate of 127.0.0.1:443 is not for '127.0.0.1', but for 10.0.0.1, fe80::1; name the server as its "
      "certificate does");
  EXPECT_THAT(refusal_of(identity({.names = "DNS:*.zeus.example"}, &authority()), authorities, "a.b.zeus.example:443"),
              HasSubstr("is not for 'a.b.zeus.example', but for *.zeus.example"));
  EXPECT_THAT(
      refusal_of(identity({.names = "", .subject = "jobs.example"}, &authority()), authorities, "jobs.example:443"),
      HasSubstr("is not for 'jobs.example', but for no host"));
  EXPECT_EQ(refusal_of(identity({.until_s = -day_s / 2}, &authority()), authorities, "jobs.example:443"),
            fmt::format("the certificate of jobs.example:443 expired on {}; check this machine's clock, or ask the "
                        "server's administrator for a new certificate",
                        day_in(-day_s / 2)));
  EXPECT_THAT(
      refusal_of(identity({.from_s = day_s, .until_s = 2 * day_s}, &authority()), authorities, "jobs.example:443"),
      StartsWith(fmt::format("the certificate of jobs.example:443 is valid from {} on; ", day_in(day_s))));
  EXPECT_EQ(refusal_of(identity({}), authorities, "jobs.example:443"),
            "the certificate of jobs.example:443 is self-signed; to trust it, set ZEUS_CA_FILE to a "
            "copy of it");
  const Identity other = identity({.names = "", .subject = "another authority", .is_authority = true});
  EXPECT_EQ(refusal_of(identity({}, &other), authorities, "jobs.example:443"),
            "the certificate of jobs.example:443 is signed by an authority that this machine does not trust; set "
            "ZEUS_CA_FILE to the "
            "authority's certificate");
  // A server's own certificate does not make it an authority.
  const Identity signed_by_a_server = identity({}, &usual_server());
  EXPECT_NE(refusal_of(signed_by_a_server, authorities, "jobs.example:443"), "it was accepted");
  for (const int newest : {TLS1_VERSION, TLS1_1_VERSION}) {
    EXPECT_EQ(refusal_of(usual_server(), authorities, "jobs.example:443", newest),
              "jobs.example:443 offers neither TLS 1.2 nor 1.3; ask the server's administrator to allow one of them");
  }
}

TEST(TlsChannel, TellsAServerWithoutTlsFromOneThatEnds) {
  const Authorities authorities = believing(authority());
  const auto reply = [&](std::string_view words) {
    Server server{usual_server()};
    const auto client = client_of(server, authorities);
    try {
      EXPECT_EQ(client->greet().now, Now::wants_to_read);
      server.give_plain(words);
      server.close();
      while (client->greet().now == Now::wants_to_read) {
      }
      return std::string{"it was accepted"};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      return std::string{error.what()};
    }
  };
  EXPECT_EQ(reply("HTTP/1.1 400 Bad Request\r\n\r\n"),
            "jobs.example:443 does not answer with TLS; check the port, and write http:// if that server is meant");
  EXPECT_THAT(reply("SSH-2.0-OpenSSH\r\n"), StartsWith("jobs.example:443 does not answer with TLS; "));
  EXPECT_EQ(
      reply(""),
      "jobs.example:443 closed the connection before it was secured by TLS; check whether the server runs, and write "
      "http:// if it does not use TLS");
}

TEST(TlsChannel, TakesBytesInPiecesOfAnySize) {
  const Authorities authorities = believing(authority());
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const std::size_t piece : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 11U, 64U, 1000U}) {
      Server server{usual_server(), newest};
      const auto client = client_of(server, authorities);
      greet(*client, server, piece);
      server.say("an answer");
      std::string all;
      while (server.give(piece) > 0) {
        const auto [words, ended] = heard_by(*client);
        EXPECT_EQ(ended, Now::wants_to_read);
        all += words;
      }
      EXPECT_EQ(all, "an answer") << piece;
    }
  }
}

// What a client hears of an answer of which the server's first bytes alone come, and how that ends: `broken` also if
// the greeting fails. `was_cut` says whether there were more bytes.
std::pair<std::string, Now> heard_of_the_first(std::size_t bytes, const Authorities& authorities, int newest,
                                               bool& was_cut) {
  Server server{usual_server(), newest};
  const auto client = client_of(server, authorities);
  was_cut = false;
  const auto pass_on = [&] {
    bytes -= server.give(bytes);
    if (server.waiting() > 0) {
      was_cut = true;
      server.close();
    }
  };
  try {
    while (client->greet().now != Now::moved) {
      server.take();
      pass_on();
    }
  } catch (const Error&) {
    return {"", Now::broken};
  }
  if (!was_cut) {
    server.take();
    server.say("an answer");
    server.say_that_it_ends();
    pass_on();
  }
  return heard_by(*client);
}

TEST(TlsChannel, NeverTakesACutConnectionForAWholeOneWhereverItIsCut) {
  const Authorities authorities = believing(authority());
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    std::size_t at = 0;
    for (bool was_cut = true; was_cut; ++at) {
      const auto [words, ended] = heard_of_the_first(at, authorities, newest, was_cut);
      EXPECT_EQ(ended, was_cut ? Now::broken : Now::ended) << at;
      EXPECT_THAT(std::string{"an answer"}, StartsWith(words)) << at;
    }
    EXPECT_GT(at, 500U) << "a handshake has more bytes";
  }
}

TEST(TlsChannel, IsQuietWhateverTlsItselfSendsBetweenAnswers) {
  Server server{usual_server()};
  const Authorities authorities = believing(authority());
  const auto client = client_of(server, authorities);
  greet(*client, server);
  EXPECT_GT(server.waiting(), 0U) << "tickets";
  server.give();
  EXPECT_TRUE(client->is_quiet());
  SSL_key_update(server.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
  SSL_do_handshake(server.ssl());
  server.give();
  EXPECT_TRUE(client->is_quiet());
  server.say("unasked");
  server.give();
  EXPECT_FALSE(client->is_quiet());

  Server ended{usual_server()};
  const auto other = client_of(ended, authorities);
  greet(*other, ended);
  ended.say_that_it_ends();
  ended.give();
  EXPECT_FALSE(other->is_quiet());
}

TEST(TlsChannel, DoesNotNegotiateAgain) {
  Server server{usual_server(), TLS1_2_VERSION};
  const Authorities authorities = believing(authority());
  const auto client = client_of(server, authorities);
  greet(*client, server);
  ASSERT_EQ(SSL_renegotiate(server.ssl()), 1);
  SSL_do_handshake(server.ssl());
  server.give();
  EXPECT_EQ(heard_by(*client).first, "");
  ERR_clear_error();
  EXPECT_EQ(server.heard(), "");
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
}

TEST(Authorities, AreOfAFileOrOfTheSystem) {
  const test::TemporaryFolder folder;
  const auto reply = [](const std::string& file) {
    try {
      const Authorities read{file};
      return std::string{"it was read"};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return error.message();
    }
  };
  EXPECT_EQ(reply(""), "it was read");
  const std::string empty = (folder.path() / "empty.pem").string();
  ASSERT_TRUE(FileDescriptor{::open(empty.c_str(), O_CREAT | O_WRONLY, 0600)});
  EXPECT_THAT(reply(empty), StartsWith(fmt::format("the certificates in '{}' cannot be read: ", empty)));
  EXPECT_THAT(reply(folder.path().string()), HasSubstr("cannot be read"));
  const std::string none = (folder.path() / "none.pem").string();
  EXPECT_EQ(reply(none), fmt::format("the certificates in '{}' cannot be read: No such file or directory", none));
}

// A server of HTTP by TLS over TCP, on threads of its own: each answer is the request's body.
class EchoServer {
 public:
  explicit EchoServer(std::size_t connections) : context_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free} {
    const Identity own = identity({.names = "IP:127.0.0.1"}, &authority());
    SSL_CTX_use_certificate(context_.get(), own.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), own.key.get());
    for (std::size_t i = 0; i < connections; ++i) {
      threads_.emplace_back([this] { serve(); });
    }
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  ~EchoServer() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  [[nodiscard]] std::string address() const { return transport::address_of(listener_); }

 private:
  void serve() {
    FileDescriptor socket;
    while (!socket) {  // several threads accept
      pollfd asked{listener_.get(), POLLIN, 0};
      ::poll(&asked, 1, -1);
      socket = FileDescriptor{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    }
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context_.get()), SSL_free};
    SSL_set_fd(ssl.get(), socket.get());
    if (SSL_accept(ssl.get()) != 1) {
      return;
    }
    std::string request;
    std::array<char, 5000> room{};
    for (int count = 1; count > 0;) {
      count = SSL_read(ssl.get(), room.data(), static_cast<int>(room.size()));
      request.append(room.data(), static_cast<std::size_t>(std::max(count, 0)));
      const std::size_t head = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (head != std::string::npos && request.size() - head - 4 == std::stoul(request.substr(length + 16))) {
        const std::string answer = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
                                               request.size() - head - 4, request.substr(head + 4));
        SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
        request.clear();
      }
    }
  }

  std::shared_ptr<SSL_CTX> context_;
  FileDescriptor listener_{std::move(transport::listen_on_tcp("127.0.0.1:0").front())};
  std::vector<std::thread> threads_;
};

TEST(TlsClients, ShareTheirAuthoritiesOverManyAnswersInRealTime) {
  constexpr std::size_t clients = 4;
  const Authorities authorities = believing(authority());
  const EchoServer server{clients};
  std::vector<std::thread> threads;
  threads.reserve(clients);
  for (std::size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      transport::HttpClient client{{.server = transport::Endpoint::from(server.address()),
                                    .token = "t",
                                    .connect_time = 60_s,
                                    .answer_time = 60_s,
                                    .channel = authorities.channel_to(server.address())}};
      for (const std::size_t size : {std::size_t{0}, std::size_t{10}, 300000 + i}) {
        const std::string body(size, 'x');
        EXPECT_EQ(client.ask({.method = "POST", .body = body}).body, body);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(TlsClients, WaitForNoHandshakeLongerThanTheyMayInRealTime) {
  const Authorities authorities = believing(authority());
  // Its connections are made, and nothing answers.
  const auto listeners = transport::listen_on_tcp("127.0.0.1:0");
  const std::string address = transport::address_of(listeners.front());
  transport::HttpClient client{{.server = transport::Endpoint::from(address),
                                .token = "",
                                .connect_time = 50_ms,
                                .channel = authorities.channel_to(address)}};
  try {
    client.ask({});
    ADD_FAILURE() << "nothing answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::timeout);
  }
}

}  // namespace
}  // namespace zeus::tls
