#include "transport/long_body.hpp"

#include "tests/support/running_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {
namespace {

using test::RawClient;
using test::RunningServer;

std::string text_of(const LongBody& body) {
  std::string text;
  std::array<char, 7> room{};
  for (auto some = body.read(0, room); !some.empty(); some = body.read(text.size(), room)) {
    text.append(some.data(), some.size());
  }
  return text;
}

std::string long_text() {
  std::string text;
  for (int number = 0; text.size() < 300'000; ++number) {
    text += fmt::format("line {}\n", number);
  }
  return text;
}

TEST(LongBody, HoldsWhatWasAppended) {
  LongBody body;
  EXPECT_EQ(text_of(body), "");
  body.append("hello ");
  body.append("");
  body.append("world");
  EXPECT_EQ(body.size(), 11U);
  EXPECT_EQ(text_of(body), "hello world");
  std::array<char, 4> room{};
  EXPECT_TRUE(body.read(11, room).empty());
  EXPECT_EQ(body.read(9, room).size(), 2U);
  EXPECT_EQ(body.whole(), "hello world");
}

TEST(LongBody, HoldsRequestsTooLongForMemoryInRealTime) {
  ServerLimits limits;
  limits.body = 1000;
  limits.body_of = [](std::string_view /*method*/, std::string_view target) {
    return target == "/long" ? std::size_t{1'000'000} : std::size_t{1000};
  };
  std::string in_memory;
  std::string in_file;
  const RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) {
                                const Request& request = exchange->request();
                                in_memory = request.body;
                                in_file = request.long_body ? text_of(*request.long_body) : "";
                                exchange->answer({.status = 200, .headers = {}, .body = "done"});
                              },
                              limits};
  const std::string text = long_text();
  RawClient client{running.path()};
  for (const bool chunked : {false, true}) {
    const auto ask = [&](const std::string& body) {
      client.send("PUT /long HTTP/1.1\r\nHost: h\r\n" +
                  (chunked ? fmt::format("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body)
                           : fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body)));
      EXPECT_TRUE(client.answer().ends_with("done"));
    };
    ask(text);
    EXPECT_EQ(in_memory, "");
    EXPECT_TRUE(in_file == text);
    ask(text.substr(0, 1000));
    EXPECT_EQ(in_memory, text.substr(0, 1000));
    EXPECT_EQ(in_file, "");
  }
}

TEST(LongBody, IsSentWholeEvenToASlowReaderInRealTime) {
  auto body = std::make_shared<LongBody>();
  const std::string text = long_text() + long_text() + long_text();
  body->append(text);
  const RunningServer running{[&](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({.status = 200, .headers = {}, .body = {}, .long_body = body});
  }};
  RawClient client{running.path()};
  client.send(
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string head = fmt::format("HTTP/1.1 200 OK\r\n{}Content-Length: {}\r\n\r\n", test::date_line, text.size());
  EXPECT_TRUE(client.answer() == head + text);
  EXPECT_EQ(client.until("\r\n\r\n"), head);
  EXPECT_TRUE(client.answer() == head + text);
}

}  // namespace
}  // namespace zeus::transport
