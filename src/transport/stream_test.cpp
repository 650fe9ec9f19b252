#include "transport/server.hpp"

#include "tests/support/running_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zeus::transport {
namespace {

using test::comes_true;
using test::RawClient;
using test::RunningServer;

constexpr std::string_view stream_request{"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"};

std::shared_ptr<const std::string> piece(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// Makes each request a stream.
class Streams {
 public:
  HttpServer::Handler handler() {
    return [this](const std::shared_ptr<Exchange>& exchange) {
      exchange->when_abandoned([this] { ++abandoned; });
      const std::lock_guard guard{mutex_};
      all_.push_back(exchange->stream(200, {{"Content-Type", "text/event-stream"}}));
    };
  }
  std::vector<std::shared_ptr<Stream>> wait_for(std::size_t count) {
    EXPECT_TRUE(comes_true([&] {
      const std::lock_guard guard{mutex_};
      return all_.size() == count;
    }));
    const std::lock_guard guard{mutex_};
    return std::exchange(all_, {});
  }

  std::atomic<int> abandoned{0};

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Stream>> all_;
};

TEST(Stream, SendsPiecesAsChunksInRealTime) {
  Streams streams;
  const RunningServer running{streams.handler()};
  RawClient client{running.path()};
  client.send(stream_request);
  const auto stream = streams.wait_for(1).front();
  EXPECT_EQ(client.until("\r\n\r\n"), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
                                          std::string{test::date_line} + "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(stream->offer(piece("data: hello\n\n")));
  EXPECT_TRUE(stream->offer(piece("")));  // which does not end it
  EXPECT_TRUE(stream->offer(piece("x")));
  EXPECT_EQ(client.until("x\r\n"), "d\r\ndata: hello\n\n\r\n1\r\nx\r\n");
  EXPECT_FALSE(stream->is_over());
  stream->end();
  EXPECT_EQ(client.until("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_TRUE(stream->is_over());
  EXPECT_FALSE(stream->offer(piece("y")));
  // The connection goes on.
  client.send(stream_request);
  streams.wait_for(1).front().reset();
  EXPECT_TRUE(client.until("0\r\n\r\n").ends_with("\r\n\r\n0\r\n\r\n"));
  EXPECT_EQ(streams.abandoned, 0);
}

TEST(Stream, SendsToTheEndInHttp10InRealTime) {
  Streams streams;
  const RunningServer running{streams.handler()};
  RawClient client{running.path()};
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto stream = streams.wait_for(1).front();
  EXPECT_TRUE(stream->offer(piece("one")));
  EXPECT_TRUE(stream->offer(piece("two")));
  stream->end();
  EXPECT_TRUE(client.until_end().ends_with("Connection: close\r\n\r\nonetwo"));
}

TEST(Stream, LosesPiecesOfASlowReaderAndNoMemoryInRealTime) {
  ServerLimits limits;
  limits.most_unsent = 100000;
  Streams streams;
  const RunningServer running{streams.handler(), limits};
  RawClient slow{running.path()};
  RawClient quick{running.path()};
  slow.send(stream_request);
  const auto slow_stream = streams.wait_for(1).front();
  quick.send(stream_request);
  const auto quick_stream = streams.wait_for(1).front();
  quick.until("\r\n\r\n");
  std::string expected;
  int accepted = 0;
  int dropped = 0;
  std::weak_ptr<const std::string> of_dropped;
  constexpr int pieces = 1000;
  for (int i = 0; i < pieces; ++i) {
    const auto next = piece(fmt::format("{:04}", i) + std::string(996, '.'));
    EXPECT_TRUE(quick_stream->offer(next));
    EXPECT_EQ(quick.until("\r\n").size(), 5U);
    EXPECT_EQ(quick.until("\r\n").size(), 1002U);
    if (slow_stream->offer(next)) {
      ++accepted;
      expected += "3e8\r\n" + *next + "\r\n";
    } else {
      ++dropped;
      of_dropped = next;
    }
  }
  EXPECT_GT(dropped, 0);
  EXPECT_GT(accepted, 90);  // what the bound and the socket hold
  EXPECT_TRUE(of_dropped.expired());
  EXPECT_FALSE(slow_stream->is_over());
  // Once it reads again, it gets the whole of what was accepted, and what comes later.
  slow_stream->end();
  slow.until("\r\n\r\n");
  EXPECT_EQ(slow.until("\r\n0\r\n\r\n"), expected + "0\r\n\r\n");
}

TEST(Stream, ClosesOnAReaderThatHasStoppedInRealTime) {
  ServerLimits limits;
  limits.most_unsent = 1000;
  limits.send_time = 100_ms;
  Streams streams;
  RunningServer running{streams.handler(), limits};
  RawClient client{running.path()};
  client.send(stream_request);
  const auto stream = streams.wait_for(1).front();
  while (stream->offer(piece(std::string(10000, 'x')))) {
  }
  EXPECT_TRUE(comes_true([&] { return stream->is_over(); }));
  EXPECT_TRUE(comes_true([&] { return streams.abandoned == 1; }));
  EXPECT_TRUE(comes_true([&] { return running.server().connections() == 0; }));
}

TEST(Stream, NoticesThatItsReaderHasGoneEvenIfNothingIsSentInRealTime) {
  Streams streams;
  const RunningServer running{streams.handler()};
  const int port = std::stoi(running.tcp().substr(running.tcp().rfind(':') + 1));
  for (const bool by_tcp : {false, true}) {
    RawClient client = by_tcp ? RawClient{port} : RawClient{running.path()};
    client.send(stream_request);
    const auto stream = streams.wait_for(1).front();
    client.until("\r\n\r\n");
    client.close();
    EXPECT_TRUE(comes_true([&] { return stream->is_over(); }));
    EXPECT_FALSE(stream->offer(piece("x")));
  }
  EXPECT_TRUE(comes_true([&] { return streams.abandoned == 2; }));
}

TEST(Stream, TakesPiecesFromSeveralThreadsInRealTime) {
  Streams streams;
  const RunningServer running{streams.handler()};
  constexpr std::size_t readers = 16;
  constexpr int pieces = 200;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t i = 0; i < readers; ++i) {
    clients.push_back(std::make_unique<RawClient>(running.path()));
    clients.back()->send(stream_request);
  }
  const auto all = streams.wait_for(readers);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      const auto shared = piece("abc");
      for (int i = 0; i < pieces; ++i) {
        for (const auto& stream : all) {
          stream->offer(shared);
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  std::string expected;
  for (int i = 0; i < 3 * pieces; ++i) {
    expected += "3\r\nabc\r\n";
  }
  for (std::size_t i = 0; i < readers; ++i) {
    all[i]->end();
    clients[i]->until("\r\n\r\n");
    EXPECT_EQ(clients[i]->until("0\r\n\r\n"), expected + "0\r\n\r\n");
  }
}

}  // namespace
}  // namespace zeus::transport
