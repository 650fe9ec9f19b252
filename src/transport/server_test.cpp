#include "transport/server.hpp"

#include "tests/support/running_server.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zeus::transport {
namespace {

using test::comes_true;
using test::RawClient;
using test::RunningServer;

Answer echo(const Request& request) {
  return {200,
          {{"X-Method", request.method}},
          request.method + " " + request.path + "|" + request.query + "|" + request.body};
}

void answer_at_once(const std::shared_ptr<Exchange>& exchange) {
  exchange->answer(echo(exchange->request()));
}

std::string get(std::string_view path) {
  return "GET " + std::string{path} + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

// Exchanges that wait until somebody answers them.
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
  RunningServer running{answer_at_once};
  RawClient client{running.path()};
  client.send(get("/a?b=c&d"));
  EXPECT_EQ(client.answer(), "HTTP/1.1 200 OK\r\nX-Method: GET\r\nContent-Length: 13\r\n\r\nGET /a|b=c&d|");
  client.send("POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\nPOST /x||hello"));
  client.send(
      "PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\nPUT /x||abcde"));
}

TEST(HttpServer, AnswersWhatWasSentAheadInOrderInRealTime) {
  RunningServer running{answer_at_once};
  RawClient client{running.path()};
  client.send(get("/1") + "POST /2 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx" + get("/3"));
  EXPECT_TRUE(client.answer().ends_with("GET /1||"));
  EXPECT_TRUE(client.answer().ends_with("POST /2||x"));
  EXPECT_TRUE(client.answer().ends_with("GET /3||"));
}

}  // namespace
}  // namespace zeus::transport
