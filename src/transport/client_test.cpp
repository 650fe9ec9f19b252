#include "transport/client.hpp"

#include "tests/support/running_server.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace zeus::transport {
namespace {

using test::comes_true;
using test::RunningServer;

void answer_with_echo(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  exchange->answer({request.path == "/404" ? 404 : 200,
                    {{"X-Connection", std::to_string(exchange->peer().connection)}},
                    fmt::format("{} {}|{}|{}|{}", request.method, request.path, request.query, request.body,
                                request.headers.get("Authorization").value_or(""))});
}

Endpoint unix_endpoint(const RunningServer& running) {
  return Endpoint::from(running.path().string());
}

ErrorKind kind_of_failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

// Answers the first request of each connection with these bytes, whatever the request. Closes the connection at once,
// or at the next request.
class Parrot {
 public:
  explicit Parrot(std::string words, bool closes_at_once = true)
      : listener_{listen_on_unix({.path = path()})}, thread_{[this, words = std::move(words), closes_at_once] {
          while (const FileDescriptor socket{wait_for_one()}) {
            ++connections;
            char bytes[4096];
            ::recv(socket.get(), bytes, sizeof bytes, 0);
            ::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL);
            if (!closes_at_once) {
              ::recv(socket.get(), bytes, sizeof bytes, 0);
            }
          }
        }} {}
  Parrot(const Parrot&) = delete;
  Parrot& operator=(const Parrot&) = delete;
  ~Parrot() {
    ends_ = true;
    thread_.join();
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "socket"; }
  std::atomic<int> connections{0};

 private:
  int wait_for_one() {
    pollfd asked{listener_.socket.get(), POLLIN, 0};
    while (!ends_) {
      if (::poll(&asked, 1, 10) == 1) {
        return ::accept(listener_.socket.get(), nullptr, nullptr);
      }
    }
    return -1;
  }
  test::TemporaryFolder folder_;
  UnixListener listener_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(HttpClient, AsksOverEitherTransportInRealTime) {
  const RunningServer running{answer_with_echo};
  for (const Endpoint& server : {unix_endpoint(running), Endpoint::from(running.tcp())}) {
    HttpClient client{{.server = server, .token = "t0"}};
    const Answer first = client.ask({.method = "POST", .path = "/p", .query = "q=1", .body = "body"});
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, "POST /p|q=1|body|Bearer t0");
    const Answer second = client.ask({.path = "/404"});
    EXPECT_EQ(second.status, 404);
    EXPECT_EQ(second.body, "GET /404|||Bearer t0");
    EXPECT_EQ(first.headers.get("x-connection"), second.headers.get("X-CONNECTION"));
    EXPECT_EQ(client.ask({.method = "HEAD"}).body, "");
    EXPECT_EQ(client.ask({.method = "POST"}).body, "POST /|||Bearer t0");
    const std::string large(1000000, 'x');
    EXPECT_EQ(client.ask({.method = "PUT", .body = large}).body, "PUT /||" + large + "|Bearer t0");
  }
}

TEST(HttpClient, ReportsWhyItReachesNoServerInRealTime) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(kind_of_failure([&] { HttpClient{{.server = Endpoint::from((folder.path() / "none").string())}}.ask({}); }),
            ErrorKind::unavailable);
  std::string address;
  {
    const auto sockets = listen_on_tcp("127.0.0.1:0");
    address = address_of(sockets.front());
  }
  EXPECT_EQ(kind_of_failure([&] { HttpClient{{.server = Endpoint::from(address)}}.ask({}); }), ErrorKind::unavailable);
  EXPECT_EQ(kind_of_failure([&] { HttpClient{{.server = Endpoint::from("nowhere")}}.ask({}); }),
            ErrorKind::invalid_argument);
}

TEST(HttpClient, RefusesToSendWhatWouldBeTwoRequestsInRealTime) {
  const RunningServer running{answer_with_echo};
  HttpClient client{{.server = unix_endpoint(running)}};
  EXPECT_EQ(kind_of_failure([&] { client.ask({.path = "/ HTTP/1.1\r\n\r\nGET /"}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_failure([&] { client.ask({.path = "/a b"}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_failure([&] { client.ask({.headers = {{"A", "b\r\nC: d"}}}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(client.ask({}).status, 200);
}

TEST(HttpClient, WaitsNoLongerThanItsTimeoutInRealTime) {
  const RunningServer running{
      [kept = std::vector<std::shared_ptr<Exchange>>{}](std::shared_ptr<Exchange> exchange) mutable {
        if (exchange->request().path == "/now") {
          answer_with_echo(exchange);
        } else {
          kept.push_back(std::move(exchange));
        }
      }};
  HttpClient client{{.server = unix_endpoint(running), .answer_time = 50_ms}};
  EXPECT_EQ(kind_of_failure([&] { client.ask({.path = "/never"}); }), ErrorKind::timeout);
  EXPECT_EQ(client.ask({.path = "/now"}, 10_s).body, "GET /now|||");  // not the late answer to another
  // No server accepts here.
  const test::TemporaryFolder folder;
  const UnixListener silent = listen_on_unix({.path = folder.path() / "socket"});
  HttpClient waits{{.server = Endpoint::from((folder.path() / "socket").string()), .answer_time = 50_ms}};
  EXPECT_EQ(kind_of_failure([&] { waits.ask({}); }), ErrorKind::timeout);
}

TEST(HttpClient, AsksAgainAfterARestartInRealTime) {
  ServerLimits limits;
  limits.idle_time = 1_s;
  RunningServer running{answer_with_echo, limits};
  HttpClient client{{.server = unix_endpoint(running)}};
  for (const char* const method : {"GET", "POST", "GET"}) {
    EXPECT_EQ(client.ask({.method = method}).status, 200);
    EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
  }
}

TEST(HttpClient, RepeatsOnlyWhatMayBeDoneTwiceInRealTime) {
  const Parrot parrot{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false};
  {
    HttpClient client{{.server = Endpoint::from(parrot.path().string())}};
    EXPECT_EQ(client.ask({}).status, 200);
    EXPECT_EQ(client.ask({}).status, 200);  // once more, since the kept connection ended instead of an answer
    EXPECT_EQ(parrot.connections, 2);
    EXPECT_EQ(kind_of_failure([&] { client.ask({.method = "POST"}); }), ErrorKind::unavailable);
    EXPECT_EQ(parrot.connections, 2);
  }
  const Parrot silent{""};
  HttpClient client{{.server = Endpoint::from(silent.path().string())}};
  EXPECT_EQ(kind_of_failure([&] { client.ask({}); }), ErrorKind::unavailable);
  EXPECT_EQ(silent.connections, 1);  // nothing is repeated on a new connection
}

TEST(HttpClient, ReportsAnInvalidAnswerInRealTime) {
  const auto kind_for = [](std::string words) {
    const Parrot parrot{std::move(words)};
    HttpClient client{{.server = Endpoint::from(parrot.path().string()), .longest_answer = 1000}};
    return kind_of_failure([&] { client.ask({}); });
  };
  EXPECT_EQ(kind_for("SSH-2.0-OpenSSH\r\n"), ErrorKind::corrupt_data);
  EXPECT_EQ(kind_for("HTTP/1.1 2000 OK\r\n\r\n"), ErrorKind::corrupt_data);
  EXPECT_EQ(kind_for("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x')),
            ErrorKind::corrupt_data);
  EXPECT_EQ(kind_for("HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x')), ErrorKind::corrupt_data);
  EXPECT_EQ(kind_for("HTTP/1.1 200 OK\r\nA: " + std::string(100000, 'x')), ErrorKind::corrupt_data);
  EXPECT_EQ(kind_for("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"), ErrorKind::unavailable);
  EXPECT_EQ(kind_for("HTTP/1.1 20"), ErrorKind::unavailable);
  EXPECT_EQ(kind_for(""), ErrorKind::unavailable);
}

TEST(HttpClient, TakesAnswersOfEachKindInRealTime) {
  const auto body_of = [](std::string words) {
    const Parrot parrot{std::move(words)};
    return HttpClient{{.server = Endpoint::from(parrot.path().string())}}.ask({}).body;
  };
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), "hi");
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"), "hi");
  EXPECT_EQ(body_of("HTTP/1.0 200 OK\r\n\r\nhi"), "hi");
  EXPECT_EQ(body_of("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), "hi");
}

TEST(HttpClient, HasAConnectionOfItsOwnInAForkedChildInRealTime) {
  const RunningServer running{answer_with_echo};
  HttpClient client{{.server = unix_endpoint(running)}};
  const Answer before = client.ask({});
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor from_child{ends[0]};
  FileDescriptor to_parent{ends[1]};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string seen{client.ask({}).headers.get("X-Connection").value_or("")};
    ::_exit(::write(to_parent.get(), seen.data(), seen.size()) > 0 ? 0 : 1);
  }
  to_parent.close();
  std::string seen(32, '\0');
  const ssize_t count = ::read(from_child.get(), seen.data(), seen.size());
  ASSERT_GT(count, 0);
  seen.resize(static_cast<std::size_t>(count));
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(seen, before.headers.get("X-Connection"));
  EXPECT_EQ(client.ask({}).headers.get("X-Connection"), before.headers.get("X-Connection"));
}

TEST(StreamReader, ReadsPiecesAsTheyComeInRealTime) {
  std::shared_ptr<Stream> stream;
  std::atomic<bool> is_there{false};
  RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/none") {
      exchange->answer({404, {}, "no such stream"});
      return;
    }
    stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
    is_there = true;
  }};
  StreamReader reader{{.server = unix_endpoint(running)}, {}};
  EXPECT_EQ(reader.answer().headers.get("Content-Type"), "text/event-stream");
  ASSERT_TRUE(comes_true([&] { return is_there.load(); }));
  EXPECT_EQ(kind_of_failure([&] { reader.read(20_ms); }), ErrorKind::timeout);
  EXPECT_TRUE(stream->offer(std::make_shared<const std::string>("data: 1\n\n")));
  EXPECT_EQ(reader.read(10_s), "data: 1\n\n");
  EXPECT_TRUE(stream->offer(std::make_shared<const std::string>("data: 2\n\n")));
  pollfd asked{reader.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&asked, 1, 10000), 1);
  stream->end();
  EXPECT_EQ(reader.read(10_s), "data: 2\n\n");
  EXPECT_EQ(reader.read(10_s), std::nullopt);
  StreamReader none{{.server = unix_endpoint(running)}, {.path = "/none"}};
  EXPECT_EQ(none.answer().status, 404);
  EXPECT_EQ(none.answer().body, "no such stream");
  EXPECT_EQ(none.read(10_s), std::nullopt);
  StreamReader broken{{.server = unix_endpoint(running)}, {}};
  running.end_server();
  EXPECT_EQ(kind_of_failure([&] { broken.read(10_s); }), ErrorKind::unavailable);
}

TEST(StreamReader, MayWaitForTheHeadLaterInRealTime) {
  std::shared_ptr<Exchange> asked;
  std::atomic<bool> is_there{false};
  const RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) {
    asked = exchange;
    is_there = true;
  }};
  StreamReader reader{{.server = unix_endpoint(running)}, {}, StreamReader::Until::sent};
  ASSERT_TRUE(comes_true([&] { return is_there.load(); }));
  EXPECT_FALSE(reader.has_head());
  EXPECT_EQ(kind_of_failure([&] { reader.read(20_ms); }), ErrorKind::timeout);
  asked->answer({429, {}, "later"});
  EXPECT_EQ(reader.read(10_s), std::nullopt);
  EXPECT_TRUE(reader.has_head());
  EXPECT_EQ(reader.answer().status, 429);
  EXPECT_EQ(reader.answer().body, "later");
}

TEST(Endpoint, IsAPathIfItHasASlash) {
  EXPECT_EQ(Endpoint::from("/run/a.sock").unix_path, "/run/a.sock");
  EXPECT_EQ(Endpoint::from("./a.sock").unix_path, "./a.sock");
  EXPECT_EQ(Endpoint::from("node:4938").host_port, "node:4938");
  EXPECT_EQ(Endpoint::from("[::1]:4938").name(), "[::1]:4938");
}

TEST(AnswerReader, TakesAnAnswerInPiecesOfAnySize) {
  const std::string all =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: t\r\n\r\n";
  const std::string whole = read_answer_for_test(all, all.size());
  EXPECT_EQ(whole, "200\nTransfer-Encoding: chunked\n\nabcde");
  for (std::size_t piece = 1; piece < all.size(); ++piece) {
    EXPECT_EQ(read_answer_for_test(all, piece), whole) << piece;
  }
}

}  // namespace
}  // namespace zeus::transport
