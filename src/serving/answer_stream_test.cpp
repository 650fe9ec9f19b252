#include "serving/answer_stream.hpp"

#include "base/random.hpp"
#include "tests/support/population.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zeus::serving {
namespace {

constexpr Instant now{1'000'000'000};

Answer read_in_pieces(std::string_view stream, std::size_t piece) {
  AnswerStream reader;
  while (!stream.empty()) {
    reader.read(stream.substr(0, piece), now);
    stream.remove_prefix(std::min(piece, stream.size()));
  }
  reader.end(now);
  return reader.answer();
}

Answer read_whole(std::string_view stream) {
  return read_in_pieces(stream, stream.size());
}

std::string chat_text(std::string_view text) {
  return fmt::format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}},\"finish_reason\":null}}]}}\n\n", text);
}

const std::string chat_end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const std::string usage_event =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}\n\n";
const std::string done_event = "data: [DONE]\n\n";

// A server's way of streaming an answer, with what it counts itself.
struct Streamed {
  std::string bytes;
  std::size_t pieces = 0;
  Usage usage;
};

enum class UsageIn { own_event, last_event, each_event };

// An answer as a server of this kind could send it.
Streamed drawn_answer(Random& random, UsageIn usage_in, bool is_chat) {
  const std::string end = random.below(2) == 0 ? "\n" : "\r\n";
  const std::string comment = random.below(3) == 0 ? ": still here" + end + end : "";
  const std::string name = random.below(3) == 0 ? "event: chunk" + end : "";
  Streamed streamed;
  streamed.usage.prompt_tokens = random.below(1000);
  if (random.below(3) == 0) {
    streamed.usage.reasoning_tokens = random.below(10);
  }
  const auto usage_text = [&](bool there) {
    if (!there) {
      return std::string{random.below(2) == 0 ? ",\"usage\":null" : ""};
    }
    std::string text = fmt::format(",\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":{}",
                                   streamed.usage.prompt_tokens.value_or(0), streamed.usage.output_tokens);
    if (streamed.usage.reasoning_tokens) {
      text +=
          fmt::format(",\"completion_tokens_details\":{{\"reasoning_tokens\":{}}}", *streamed.usage.reasoning_tokens);
    }
    return text + "}";
  };
  const auto send = [&](const std::string& choices, bool with_usage) {
    streamed.bytes +=
        comment + name + "data: {\"choices\":[" + choices + "]" + usage_text(with_usage) + "}" + end + end;
  };
  constexpr std::array<std::string_view, 3> keys{"content", "reasoning_content", "reasoning"};
  const std::uint64_t pieces = 1 + random.below(30);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    streamed.usage.output_tokens += 1 + random.below(3);
    const std::string_view key = keys.at(random.below(keys.size()));
    send(is_chat ? fmt::format("{{\"delta\":{{\"{}\":\"t\u00e9 {}\"}},\"finish_reason\":null}}", key, i)
                 : fmt::format("{{\"text\":\"t {}\"}}", i),
         usage_in == UsageIn::each_event);
  }
  streamed.pieces = pieces;
  send(is_chat ? R"({"delta":{},"finish_reason":"stop"})" : R"({"text":"","finish_reason":"stop"})",
       usage_in != UsageIn::own_event);
  if (usage_in == UsageIn::own_event) {
    send("", true);
  }
  streamed.bytes += random.below(4) == 0 ? "" : "data: [DONE]" + end + end;
  return streamed;
}

TEST(AnswerStream, CountsAreTheServersHoweverTheBytesAreCut) {
  for (const UsageIn usage_in : {UsageIn::own_event, UsageIn::last_event, UsageIn::each_event}) {
    for (const bool is_chat : {true, false}) {
      for (std::uint64_t number = 0; number < test::drawn<std::uint64_t>(1000); ++number) {
        Random random{7, number, static_cast<std::uint32_t>(usage_in) * 2 + (is_chat ? 1 : 0)};
        const Streamed streamed = drawn_answer(random, usage_in, is_chat);
        const Answer answer = read_in_pieces(streamed.bytes, 1 + random.below(80));
        ASSERT_TRUE(answer.is_whole()) << answer.failure << answer.detail << streamed.bytes;
        ASSERT_EQ(answer.usage, streamed.usage) << streamed.bytes;
        ASSERT_EQ(answer.arrivals.size(), streamed.pieces);
        ASSERT_EQ(answer.finish_reason, "stop");
      }
    }
  }
}

TEST(AnswerStream, EveryCutIntoTwoReadsTheSame) {
  Random random{11};
  const Streamed streamed = drawn_answer(random, UsageIn::own_event, true);
  for (std::size_t cut = 0; cut <= streamed.bytes.size(); ++cut) {
    AnswerStream reader;
    reader.read(std::string_view{streamed.bytes}.substr(0, cut), now);
    reader.read(std::string_view{streamed.bytes}.substr(cut), now);
    reader.end(now);
    ASSERT_EQ(reader.answer().usage, streamed.usage) << cut;
    ASSERT_EQ(reader.answer().arrivals.size(), streamed.pieces) << cut;
  }
}

TEST(AnswerStream, WithoutUsageTheCountIsUnknown) {
  const Answer answer = read_whole(chat_text("a") + chat_end + done_event);
  EXPECT_TRUE(answer.is_whole());
  EXPECT_FALSE(answer.usage);
}

TEST(AnswerStream, AnAnswerThatDoesNotEndItselfBrokeOff) {
  EXPECT_EQ(read_whole(chat_text("a")).failure, "broke off");
  EXPECT_EQ(read_whole("").failure, "broke off");
}

TEST(AnswerStream, ACountStaysKnownWhenTheAnswerBreaksOff) {
  const Answer answer = read_whole(chat_text("a") + usage_event);
  EXPECT_EQ(answer.failure, "broke off");
  EXPECT_EQ(answer.usage->output_tokens, 2U);
}

TEST(AnswerStream, AnErrorInTheStreamIsAFailureWithItsMessage) {
  const Answer answer = read_whole(chat_text("a") + "data: {\"error\":{\"message\":\"no\\nmemory\"}}\n\n" + chat_end);
  EXPECT_EQ(answer.failure, "error in the stream");
  EXPECT_EQ(answer.detail, "no\\nmemory");
  EXPECT_EQ(answer.arrivals.size(), 1U);
}

TEST(AnswerStream, WhatIsNotJsonIsAFailure) {
  EXPECT_EQ(read_whole("data: {\"choices\":[{\n\n").failure, "not JSON");
  EXPECT_EQ(read_whole("data: 7\n\n").failure, "not JSON");
}

TEST(AnswerStream, AnEventWithoutAnEndIsAFailure) {
  EXPECT_EQ(read_whole("data: " + std::string(2'000'000, 'x')).failure, "not an event stream");
}

TEST(AnswerStream, MorePiecesThanAnyModelGivesAreAFailure) {
  AnswerStream reader{{}, 3};
  reader.read(chat_text("a") + chat_text("b") + chat_text("c"), now);
  EXPECT_FALSE(reader.is_done());
  reader.read(chat_text("d"), now);
  EXPECT_TRUE(reader.is_done());
  EXPECT_EQ(reader.answer().failure, "too many pieces");
  EXPECT_EQ(reader.answer().arrivals.size(), 3U);
}

TEST(AnswerStream, NothingCountsAfterTheEnd) {
  const Answer answer = read_whole(chat_text("a") + chat_end + done_event + chat_text("b"));
  EXPECT_TRUE(answer.is_whole());
  EXPECT_EQ(answer.arrivals.size(), 1U);
}

TEST(AnswerStream, TextIsHandedOnAsItComes) {
  std::string text;
  AnswerStream reader{[&](std::string_view piece) { text += piece; }};
  reader.read(chat_text("a") + chat_text("b"), now);
  EXPECT_EQ(text, "ab");
}

TEST(ErrorText, IsTheMessageOfAnErrorObjectOrTheBeginningOfAnythingElse) {
  EXPECT_EQ(error_text(R"({"error":{"message":"busy"}})"), "busy");
  EXPECT_EQ(error_text(R"({"error":"busy"})"), "busy");
  EXPECT_EQ(error_text(R"({"detail":"none"})"), "none");
  EXPECT_EQ(error_text("<html>"), "<html>");
}

}  // namespace
}  // namespace zeus::serving
