#include "transport/server.hpp"

#include "tests/support/running_server.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zeus::transport {
namespace {

using test::comes_true;
using test::date_line;
using test::RawClient;
using test::RunningServer;

Answer echo_of(const Request& request) {
  return {200,
          {{"X-Method", request.method}},
          request.method + " " + request.path + "|" + request.query + "|" + request.body};
}

void answer_at_once(const std::shared_ptr<Exchange>& exchange) {
  exchange->answer(echo_of(exchange->request()));
}

std::string get(std::string_view path) {
  return "GET " + std::string{path} + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

// Exchanges that wait until the test answers them.
class Waiting {
 public:
  HttpServer::Handler handler() {
    return [this](std::shared_ptr<Exchange> exchange) {
      const std::lock_guard guard{mutex_};
      all_.push_back(std::move(exchange));
    };
  }
  std::shared_ptr<Exchange> take() {
    std::shared_ptr<Exchange> first;
    EXPECT_TRUE(comes_true([&] {
      const std::lock_guard guard{mutex_};
      if (all_.empty()) {
        return false;
      }
      first = std::move(all_.front());
      all_.pop_front();
      return true;
    }));
    return first;
  }
  std::size_t count() {
    const std::lock_guard guard{mutex_};
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<Exchange>> all_;
};

TEST(HttpServer, AnswersOneRequestAfterTheOtherInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient client{running.path()};
  client.send(get("/a?b=c&d"));
  EXPECT_EQ(client.answer(),
            fmt::format("HTTP/1.1 200 OK\r\nX-Method: GET\r\n{}Content-Length: 13\r\n\r\nGET /a|b=c&d|", date_line));
  client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\nPOST /x||hello"));
  client.send(
      "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: "
      "t\r\n\r\n");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\nPUT /x||abcde"));
}

TEST(HttpServer, AnswersWhatWasSentAheadInOrderInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient client{running.path()};
  client.send(get("/1") + "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx" + get("/3"));
  EXPECT_TRUE(client.answer().ends_with("GET /1||"));
  EXPECT_TRUE(client.answer().ends_with("POST /2||x"));
  EXPECT_TRUE(client.answer().ends_with("GET /3||"));
}

TEST(HttpServer, AnswersInOrderAlsoWhenEachIsAnsweredLaterInRealTime) {
  Waiting waiting;
  const RunningServer running{waiting.handler()};
  RawClient client{running.path()};
  client.send(get("/1") + get("/2") + get("/3"));
  for (const char* const path : {"/1", "/2", "/3"}) {
    const auto exchange = waiting.take();
    EXPECT_EQ(exchange->request().path, path);
    EXPECT_EQ(waiting.count(), 0U);  // the next one waits for this one's answer
    exchange->answer(echo_of(exchange->request()));
    EXPECT_TRUE(client.answer().ends_with(std::string{"GET "} + path + "||"));
  }
}

TEST(HttpServer, TakesARequestInAnyPiecesInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient client{running.path()};
  const std::string request =
      "\r\nPOST /p?q HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
  for (const char letter : request + get("/next")) {
    client.send({&letter, 1});
  }
  EXPECT_TRUE(client.answer().ends_with("POST /p|q|a"));
  EXPECT_TRUE(client.answer().ends_with("GET /next||"));
}

struct Refused {
  std::string_view what;
  std::string request;
  int status;
};

std::vector<Refused> refused_requests() {
  const std::string long_text(20000, 'x');
  return {
      {"no request", "hello\r\n\r\n", 400},
      {"a request of TLS", std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15}, 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"HTTP/2", "GET / HTTP/2.0\r\n\r\n", 400},
      {"HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"a bad method", "G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"a control character in the path", "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"no path", "GET path HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"an authority", "CONNECT host:1 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"a line break alone", "GET / HTTP/1.1\nHost: h\n\n", 400},
      {"no colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", 400},
      {"a space before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"no name", "GET / HTTP/1.1\r\nHost: h\r\n: h\r\n\r\n", 400},
      {"a zero byte in a header", std::string{"GET / HTTP/1.1\r\nA: \0\r\n\r\n", 23}, 400},
      {"no host", "GET / HTTP/1.1\r\nA: b\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"both length and chunks",
       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"both chunks and length",
       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
      {"length beside another encoding",
       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"a negative length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
      {"a length that is not a number", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\n", 400},
      {"a length beyond numbers", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"an empty length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400},
      {"an unknown encoding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"two encodings", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"chunked twice",
       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"a chunk without a size", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"a negative chunk", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400},
      {"a chunk beyond numbers",
       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n", 400},
      {"a chunk longer than its size", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       400},
      {"an endless line of a chunk", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long_text,
       400},
      {"an endless trailer", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + long_text,
       400},
      {"an unknown expectation", "POST / HTTP/1.1\r\nHost: h\r\nExpect: money\r\nContent-Length: 1\r\n\r\n", 417},
      {"a long path", "GET /" + long_text + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
      {"a long path without an end", "GET /" + long_text, 431},
      {"a long header", "GET / HTTP/1.1\r\nHost: h\r\nA: " + long_text + "\r\n\r\n", 431},
      {"many headers",
       [] {
         std::string all = "GET / HTTP/1.1\r\nHost: h\r\n";
         for (int i = 0; i < 3000; ++i) {
           all += "A: b\r\n";
         }
         return all + "\r\n";
       }(),
       431},
      {"a long body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000001\r\n\r\n", 413},
      {"a long body announced with 100-continue",
       "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1000001\r\n\r\n", 413},
      {"a long body in one chunk", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nf4241\r\n", 413},
  };
}

TEST(HttpServer, RefusesWhatIsMalformedAndGoesOnInRealTime) {
  ServerLimits limits;
  limits.body = 1000000;
  std::atomic<int> handled{0};
  RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) {
                          ++handled;
                          answer_at_once(exchange);
                        },
                        limits};
  std::map<int, std::uint64_t> expected;
  for (const Refused& each : refused_requests()) {
    for (const bool by_tcp : {false, true}) {
      RawClient client =
          by_tcp ? RawClient{std::stoi(running.tcp().substr(running.tcp().rfind(':') + 1))} : RawClient{running.path()};
      client.send(each.request);
      const std::string answer = client.until_end();
      EXPECT_TRUE(answer.starts_with(fmt::format("HTTP/1.1 {} {}\r\n", each.status, reason_of(each.status))))
          << each.what << ": " << answer;
      EXPECT_NE(answer.find("Content-Type: application/json\r\n"), std::string::npos) << each.what;
      EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << each.what;
      EXPECT_NE(answer.find("\r\n\r\n{\"error\": \""), std::string::npos) << each.what;
      ++expected[each.status];
    }
  }
  EXPECT_EQ(handled, 0);
  for (const auto& [status, count] : expected) {
    EXPECT_EQ(running.server().refused(status), count) << status;
  }
  RawClient client{running.path()};
  client.send(get("/"));
  EXPECT_EQ(client.status(), 200);
}

TEST(HttpServer, AcceptsALongerBodyOnRequestInRealTime) {
  ServerLimits limits;
  limits.body = 10;
  limits.body_of = [](std::string_view method, std::string_view target) {
    return method == "PUT" && target == "/long?x=1" ? std::size_t{1000} : std::size_t{10};
  };
  const RunningServer running{answer_at_once, limits};
  for (const bool chunked : {false, true}) {
    const auto asked = [&](std::string_view line, std::size_t size) {
      return std::string{line} + " HTTP/1.1\r\nHost: h\r\n" +
             (chunked ? fmt::format("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n", size,
                                    std::string(size, 'x'))
                      : fmt::format("Content-Length: {}\r\n\r\n{}", size, std::string(size, 'x')));
    };
    RawClient client{running.path()};
    client.send(asked("PUT /long?x=1", 1000));
    EXPECT_TRUE(client.answer().starts_with("HTTP/1.1 200 "));
    client.send(asked("PUT /long", 11));  // on the same connection
    EXPECT_TRUE(client.answer().starts_with("HTTP/1.1 413 "));
    RawClient too_long{running.path()};
    too_long.send(asked("PUT /long?x=1", 1001));
    EXPECT_TRUE(too_long.answer().starts_with("HTTP/1.1 413 "));
  }
}

TEST(HttpServer, RefusesInWordsThatItIsGivenInRealTime) {
  const RunningServer running{
      answer_at_once, {}, [](int status, std::string_view reason) {
        return Answer{.status = status, .headers = {{"Content-Type", "text/x"}}, .body = "no: " + std::string{reason}};
      }};
  RawClient client{running.path()};
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.answer(),
            fmt::format(
                "HTTP/1.1 400 Bad Request\r\nContent-Type: text/x\r\n{}Content-Length: 28\r\nConnection: close\r\n\r\n"
                "no: the request is malformed",
                date_line));
}

TEST(HttpServer, TakesWhatIsUnusualInRealTime) {
  RunningServer running{answer_at_once};
  const auto answer_to = [&](std::string_view request) {
    RawClient client{running.path()};
    client.send(request);
    return client.answer();
  };
  EXPECT_TRUE(answer_to("GET http://example.org/a?b HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("GET /a|b|"));
  EXPECT_TRUE(answer_to("GET http://example.org HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("GET /||"));
  EXPECT_TRUE(answer_to("GET HTTP://example.org?b HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("GET /|b|"));
  EXPECT_TRUE(answer_to("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("OPTIONS *||"));
  EXPECT_TRUE(answer_to("BREW /?a?b HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("BREW /|a?b|"));
  EXPECT_TRUE(answer_to("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx")
                  .ends_with("POST /||x"));
  EXPECT_TRUE(answer_to("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi").ends_with("GET /||hi"));
}

TEST(HttpServer, KeepsAConnectionAsTheClientAsksInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient old{running.path()};
  old.send("GET /1 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.until_end(),
            fmt::format("HTTP/1.1 200 OK\r\nX-Method: GET\r\n{}Content-Length: 8\r\nConnection: close\r\n\r\nGET /1||",
                        date_line));
  RawClient kept{running.path()};
  kept.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(kept.answer().find("Connection: keep-alive\r\n"), std::string::npos);
  kept.send("GET /2 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
  EXPECT_TRUE(kept.answer().ends_with("GET /2||"));
  RawClient closing{running.path()};
  closing.send("GET /1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + get("/2"));
  EXPECT_TRUE(closing.until_end().ends_with("GET /1||"));
}

TEST(HttpServer, SendsNoBodyWhereNoneBelongsInRealTime) {
  const RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
    const std::string& path = exchange->request().path;
    exchange->answer({path == "/204" ? 204 : path == "/304" ? 304 : 200, {}, "body"});
  }};
  RawClient client{running.path()};
  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + get("/204") + get("/304") + get("/"));
  EXPECT_EQ(client.until("\r\n\r\n"), fmt::format("HTTP/1.1 200 OK\r\n{}Content-Length: 4\r\n\r\n", date_line));
  EXPECT_EQ(client.until("\r\n\r\n"), fmt::format("HTTP/1.1 204 No Content\r\n{}\r\n", date_line));
  EXPECT_EQ(client.until("\r\n\r\n"), fmt::format("HTTP/1.1 304 Not Modified\r\n{}\r\n", date_line));
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\nbody"));
}

TEST(HttpServer, LetsNoHeaderBecomeTwoInRealTime) {
  const RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({200, {{"A", "b\r\nEvil: yes"}, {"Content-Length", "7"}, {"Connection", "close"}}, ""});
  }};
  RawClient client{running.path()};
  client.send(get("/"));
  EXPECT_EQ(client.answer(),
            fmt::format("HTTP/1.1 200 OK\r\nA: b  Evil: yes\r\n{}Content-Length: 0\r\n\r\n", date_line));
}

TEST(HttpServer, SendsContinueToAClientThatWaitsForItInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient client{running.path()};
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  EXPECT_TRUE(client.answer().ends_with("POST /||hi"));
}

TEST(HttpServer, LimitsTheTimeOfEachPartInRealTime) {
  ServerLimits limits;
  limits.head_time = 50_ms;
  limits.body_time = 100_ms;
  RunningServer running{answer_at_once, limits};
  RawClient slow_head{running.path()};
  slow_head.send("GET / HT");
  RawClient slow_body{running.path()};
  slow_body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(slow_head.until_end().starts_with("HTTP/1.1 408 "));
  EXPECT_TRUE(slow_body.until_end().starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(running.server().refused(408), 2U);
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
}

TEST(HttpServer, ClosesIdleConnectionsInRealTime) {
  ServerLimits limits;
  limits.idle_time = 400_ms;
  RunningServer running{answer_at_once, limits};
  RawClient silent{running.path()};
  int status = 0;
  for (int i = 0; i < 20 && status != 200; ++i) {  // on a busy machine, the request may come too late
    RawClient idle{running.path()};
    idle.send(get("/"));
    status = idle.status();
    EXPECT_EQ(idle.until_end(), "");
  }
  EXPECT_EQ(status, 200);
  EXPECT_EQ(silent.until_end(), "");
  EXPECT_EQ(running.server().refused(408), 0U);
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
}

TEST(HttpServer, ClosesOnAClientThatSendsTooSlowlyInRealTime) {
  ServerLimits limits;
  limits.head_time = 100_ms;
  RunningServer running{answer_at_once, limits};
  RawClient client{running.path()};
  client.send("GET / HTTP/1.1\r\nHost: h\r\n");
  int lines = 0;
  while (running.server().refused(408) == 0 && lines < 10000) {
    client.send("A: b\r\n");
    ::usleep(5000);
    ++lines;
  }
  EXPECT_EQ(running.server().refused(408), 1U);
}

TEST(HttpServer, WaitsForALongBodyThatKeepsComingInRealTime) {
  ServerLimits limits;
  limits.head_time = 200_ms;  // deadlines are looked at as often as the shortest requires
  limits.body_time = 2.8_s;   // pieces come in time even if the machine pauses for two seconds
  limits.body = 10UL * 1024 * 1024;
  const RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
                                exchange->answer({200, {}, std::to_string(exchange->request().body.size())});
                              },
                              limits};
  RawClient client{running.path()};
  constexpr std::size_t pieces = 8;
  const std::string piece(300UL * 1024, 'x');
  client.send(fmt::format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", pieces * piece.size()));
  for (std::size_t i = 0; i < pieces; ++i) {
    ::usleep(400'000);
    client.send(piece);
  }
  EXPECT_TRUE(client.answer().ends_with(fmt::format("\r\n\r\n{}", pieces * piece.size())));
}

TEST(HttpServer, ClosesOnALongBodyThatComesTooSlowlyInRealTime) {
  ServerLimits limits;
  limits.body_time = 500_ms;
  limits.body_rate = 100UL * 1024 * 1024;
  limits.body_of = [](std::string_view /*method*/, std::string_view /*target*/) { return std::size_t{1} << 30U; };
  RunningServer running{answer_at_once, limits};
  RawClient client{running.path()};
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n");
  const std::string piece(300UL * 1024, 'x');
  int pieces = 0;
  while (running.server().refused(408) == 0 && pieces < 200) {
    client.send(piece);
    ::usleep(20'000);
    ++pieces;
  }
  EXPECT_LT(pieces, 200);
  EXPECT_EQ(running.server().refused(408), 1U);
}

TEST(HttpServer, ClosesOnAReaderThatDoesNotReadInRealTime) {
  ServerLimits limits;
  limits.send_time = 100_ms;
  RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
                          exchange->answer({200, {}, std::string(20UL * 1024 * 1024, 'x')});
                        },
                        limits};
  RawClient client{running.path()};
  client.send(get("/"));
  char first = 0;
  EXPECT_EQ(::recv(client.descriptor(), &first, 1, MSG_PEEK), 1) << "it begins to answer";
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
}

TEST(HttpServer, SendsLongAnswersWholeInRealTime) {
  std::string body(5UL * 1024 * 1024, ' ');
  for (std::size_t i = 0; i < body.size(); ++i) {
    body[i] = static_cast<char>('a' + i % 23);
  }
  const RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) { exchange->answer({200, {}, body}); }};
  RawClient client{running.path()};
  client.send(get("/1") + get("/2"));
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n" + body));
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n" + body));
}

TEST(HttpServer, BoundsConnectionsAndThoseOfOnePeerInRealTime) {
  ServerLimits limits;
  limits.connections = 5;
  limits.from_one_peer = 3;
  RunningServer running{answer_at_once, limits};
  const int port = std::stoi(running.tcp().substr(running.tcp().rfind(':') + 1));
  std::vector<std::unique_ptr<RawClient>> kept;
  const auto connect = [&](bool by_tcp) {
    auto client = by_tcp ? std::make_unique<RawClient>(port) : std::make_unique<RawClient>(running.path());
    client->send(get("/"));
    const int status = client->status();
    if (status == 200) {
      kept.push_back(std::move(client));
    }
    return status;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(connect(false), 200);
  }
  EXPECT_EQ(connect(false), 503);  // of one user
  EXPECT_EQ(connect(true), 200);
  EXPECT_EQ(connect(true), 200);
  EXPECT_EQ(connect(true), 503);  // in all
  EXPECT_EQ(running.server().refused(503), 2U);
  EXPECT_EQ(running.server().connections(), 5U);
  kept.erase(kept.begin());
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 4; }));
  EXPECT_EQ(connect(false), 200);
}

TEST(HttpServer, AnswersFromAnyThreadInRealTime) {
  Waiting waiting;
  RunningServer running{waiting.handler()};
  constexpr int threads = 4;
  constexpr int requests = 200;
  std::atomic<int> left{threads * requests};
  std::vector<std::thread> answerers;
  for (int i = 0; i < 2; ++i) {
    answerers.emplace_back([&] {
      while (left-- > 0) {
        const auto exchange = waiting.take();
        exchange->answer(echo_of(exchange->request()));
      }
    });
  }
  std::vector<std::thread> askers;
  for (int thread = 0; thread < threads; ++thread) {
    askers.emplace_back([&, thread] {
      RawClient client{running.path()};
      for (int i = 0; i < requests; i += 2) {
        const std::string first = fmt::format("/{}/{}", thread, i);
        const std::string second = fmt::format("/{}/{}", thread, i + 1);
        client.send(get(first) + get(second));
        EXPECT_TRUE(client.answer().ends_with("GET " + first + "||"));
        EXPECT_TRUE(client.answer().ends_with("GET " + second + "||"));
      }
    });
  }
  for (std::thread& each : askers) {
    each.join();
  }
  for (std::thread& each : answerers) {
    each.join();
  }
}

TEST(HttpServer, NoticesThatTheClientHasGoneInRealTime) {
  Waiting waiting;
  RunningServer running{waiting.handler()};
  const int port = std::stoi(running.tcp().substr(running.tcp().rfind(':') + 1));
  for (const bool by_tcp : {false, true}) {
    for (const bool has_sent_ahead : {false, true}) {
      RawClient client = by_tcp ? RawClient{port} : RawClient{running.path()};
      client.send(get("/"));
      const auto exchange = waiting.take();
      std::atomic<int> told{0};
      exchange->when_abandoned([&] { ++told; });
      EXPECT_FALSE(exchange->is_abandoned());
      if (has_sent_ahead) {
        client.send(get("/ahead/" + std::string(10000, 'x')));
        client.send(get("/ahead/" + std::string(10000, 'x')));
      }
      client.close();
      EXPECT_TRUE(comes_true([&] { return exchange->is_abandoned() && told == 1; }));
      std::atomic<bool> told_at_once{false};
      exchange->when_abandoned([&] { told_at_once = true; });
      EXPECT_TRUE(comes_true([&] { return told_at_once.load(); }));
      exchange->answer({});
      EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
      EXPECT_EQ(told, 1);
    }
  }
}

TEST(HttpServer, AnswersAClientThatHasEndedSendingInRealTime) {
  Waiting waiting;
  const RunningServer running{waiting.handler()};
  RawClient client{running.path()};
  client.send(get("/"));
  client.end_sending();
  const auto exchange = waiting.take();
  EXPECT_TRUE(comes_true([&] { return exchange->is_abandoned(); }));
  exchange->answer(echo_of(exchange->request()));
  EXPECT_TRUE(client.until_end().ends_with("GET /||"));
}

TEST(HttpServer, AnswersForAHandlerThatDoesNotInRealTime) {
  const RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/throw") {
      throw Error{ErrorKind::internal, "a defect"};
    }
  }};
  RawClient client{running.path()};
  client.send(get("/drop") + get("/throw"));
  EXPECT_EQ(client.status(), 500);
  EXPECT_EQ(client.status(), 500);
}

TEST(HttpServer, CountsTheFirstAnswerAloneInRealTime) {
  const RunningServer running{[](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({201, {}, "first"});
    exchange->answer({202, {}, "second"});
    EXPECT_FALSE(exchange->stream(200, {})->offer(std::make_shared<const std::string>("third")));
  }};
  RawClient client{running.path()};
  client.send(get("/1") + get("/2"));
  EXPECT_EQ(client.status(), 201);
  EXPECT_EQ(client.status(), 201);
}

TEST(HttpServer, FinishesWhatWasAskedWhenItDrainsInRealTime) {
  Waiting waiting;
  RunningServer running{waiting.handler()};
  RawClient idle{running.path()};
  RawClient asking{running.path()};
  asking.send(get("/"));
  const auto exchange = waiting.take();
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 2; }));
  running.call([&] { running.server().drain(); });
  EXPECT_EQ(idle.until_end(), "");
  EXPECT_EQ(running.server().connections(), 1U);
  exchange->answer(echo_of(exchange->request()));
  EXPECT_TRUE(asking.until_end().ends_with("Connection: close\r\n\r\nGET /||"));
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
}

TEST(HttpServer, MayEndBeforeItsExchangesInRealTime) {
  Waiting waiting;
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<Stream> stream;
  std::atomic<int> told{0};
  {
    RunningServer running{waiting.handler()};
    RawClient first{running.path()};
    RawClient second{running.path()};
    first.send(get("/"));
    exchange = waiting.take();
    exchange->when_abandoned([&] { ++told; });
    second.send(get("/"));
    stream = waiting.take()->stream(200, {});
    running.end_server();
    EXPECT_EQ(first.until_end(), "");
    EXPECT_EQ(told, 1);
  }
  EXPECT_TRUE(exchange->is_abandoned());
  EXPECT_TRUE(stream->is_over());
  EXPECT_FALSE(stream->offer(std::make_shared<const std::string>("x")));
  exchange->when_abandoned([&] { ++told; });
  exchange->answer({});
  exchange.reset();
  stream.reset();
  EXPECT_EQ(told, 1);
}

TEST(HttpServer, SpinsNotWithoutDescriptorsInRealTime) {
  const RunningServer running{answer_at_once};
  RawClient first{running.path()};
  first.send(get("/"));
  EXPECT_EQ(first.status(), 200);
  RawClient second{running.path()};  // before there is none left
  second.send(get("/"));
  EXPECT_EQ(second.status(), 200);
  const FileDescriptor third{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{static_cast<rlim_t>(third.get()), limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, running.path().c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::connect(third.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_SELF, &before);
  ::usleep(300000);
  ::getrusage(RUSAGE_SELF, &after);
  second.send(get("/"));  // the others are served meanwhile
  EXPECT_EQ(second.status(), 200);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto used = [](const rusage& usage) {
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  EXPECT_LT(used(after) - used(before), 0.15);
  const std::string request = get("/");
  EXPECT_EQ(::send(third.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  pollfd asked{third.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&asked, 1, 10000), 1);
}

TEST(HttpServer, KeepsManyConnectionsInRealTime) {
  const RunningServer running{answer_at_once};
  std::vector<std::unique_ptr<RawClient>> all;
  for (int i = 0; i < 256; ++i) {
    all.push_back(std::make_unique<RawClient>(running.path()));
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& client : all) {
      client->send(get("/"));
    }
    for (const auto& client : all) {
      EXPECT_EQ(client->status(), 200);
    }
  }
}

}  // namespace
}  // namespace zeus::transport
