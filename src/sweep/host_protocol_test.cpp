#include "sweep/host_protocol.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace zeus::sweep {
namespace {

const std::string key = "0123456789abcdef";

std::string ended_bytes() {
  Ended ended;
  ended.figures.exit_code = 3;
  return message_bytes(key, ended);
}

TEST(HostProtocol, AnOrderArrivesAsItWasSent) {
  const RunOrder order{.version = "0.1.0",
                       .key = key,
                       .command = "echo 'a\nb' \"$HOME\"",
                       .gpus = 2,
                       .power_limit = Watts{150},
                       .clock = std::nullopt,
                       .settle = Seconds{1.5},
                       .metric_regex = "acc ([0-9]+)",
                       .epoch_regex = "",
                       .output = ""};
  std::string line = order_line(order);
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  line.pop_back();
  const RunOrder read = parse_order(line);
  EXPECT_EQ(read.command, order.command);
  EXPECT_EQ(read.power_limit, order.power_limit);
  EXPECT_EQ(read.clock, std::nullopt);
  EXPECT_EQ(read.settle, order.settle);
  EXPECT_THROW(parse_order("{}"), Error);
}

TEST(HostProtocol, OutputAndMessagesAreSeparatedHoweverTheyArriveInPieces) {
  const std::string output = "line one\n\n0123456789abcde no\nlast without end";
  const std::string all = message_bytes(key, Waiting{.what = "GPU 0"}) + output + ended_bytes();
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    MessageSplitter splitter{key};
    std::string heard;
    const auto hear = [&](std::string_view bytes) { heard += bytes; };
    std::vector<HostMessage> messages;
    for (std::size_t from = 0; from < all.size(); from += piece) {
      splitter.take(std::string_view{all}.substr(from, piece), hear);
      for (const HostMessage& message : splitter.messages()) {
        messages.push_back(message);
      }
    }
    splitter.finish(hear);
    ASSERT_EQ(heard, output) << piece;
    ASSERT_EQ(messages.size(), 2U) << piece;
    EXPECT_EQ(std::get<Waiting>(messages[0]).what, "GPU 0");
    EXPECT_EQ(std::get<Ended>(messages[1]).figures.exit_code, 3);
  }
}

TEST(HostProtocol, WhatLooksLikeAMessageAndIsNoneIsOutput) {
  MessageSplitter splitter{key};
  std::string heard;
  const auto hear = [&](std::string_view bytes) { heard += bytes; };
  const std::string strange = "a\n" + key + " {\"kind\":\"nonsense\"}\nb\n" + key + " {\"kind";
  splitter.take(strange, hear);
  splitter.finish(hear);
  EXPECT_EQ(heard, strange);
  EXPECT_TRUE(splitter.messages().empty());
}

}  // namespace
}  // namespace zeus::sweep
