#include "protocol/event_stream.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace zeus::protocol {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> events_of(EventReader& reader, std::string_view text) {
  std::vector<std::string> events;
  reader.read(text, [&](std::string_view data) { events.emplace_back(data); });
  return events;
}

std::vector<std::string> events_of(std::string_view text) {
  EventReader reader;
  return events_of(reader, text);
}

TEST(EventStreamTest, AnEventIsOneLineOfDataAndAnEmptyLine) {
  EXPECT_EQ(event_text(R"({"gpu_id":0})"), "data: {\"gpu_id\":0}\n\n");
  EXPECT_EQ(comment_text("still here"), ": still here\n\n");
}

TEST(EventStreamTest, NothingInAStringMakesAnEventOfItsOwn) {
  EXPECT_EQ(event_text("a\n\nb\r\nc"), "data: a\ndata: \ndata: b\ndata: c\n\n");
  EXPECT_THAT(events_of(event_text("a\n\nb\r\nc")), ElementsAre("a\n\nb\nc"));
  EXPECT_THAT(events_of(comment_text("x\n\ndata: y\n\n")), IsEmpty());
}

TEST(EventStreamTest, ReadsEventsAndPassesOverAllElse) {
  EXPECT_THAT(events_of("data: 1\n\n: heartbeat\n\nevent: x\nid: 7\nretry: 10\ndata:2\n\nother\n\ndata: 3\n\n"),
              ElementsAre("1", "2", "3"));
  EXPECT_THAT(events_of("data\n\n"), ElementsAre(""));
  EXPECT_THAT(events_of("data: cut off\n"), IsEmpty());
  EXPECT_THAT(events_of("database: x\n\n"), IsEmpty());
}

TEST(EventStreamTest, AnyLineEndEndsALine) {
  EXPECT_THAT(events_of("data: 1\r\n\r\ndata: 2\r\rdata: 3\n\ndata: a\rdata: b\r\n\n"),
              ElementsAre("1", "2", "3", "a\nb"));
  EXPECT_THAT(events_of("data: c\r\ndata: d\r\n\r\n"), ElementsAre("c\nd"));
  EXPECT_THAT(events_of("\xef\xbb\xbf"
                        "data: 1\n\n"),
              ElementsAre("1"));
}

TEST(EventStreamTest, PiecesMayBeCutAnywhere) {
  const std::string stream =
      "\xef\xbb\xbf"
      "data: {\"a\":1}\r\n\r\n: still here\n\ndata: x\r\rdata: y\r\ndata: z\r\n\r\n";
  const std::vector<std::string> whole = events_of(stream);
  ASSERT_THAT(whole, ElementsAre("{\"a\":1}", "x", "y\nz"));
  Random random{3};
  for (int round = 0; round < 500; ++round) {
    EventReader reader;
    std::vector<std::string> events;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t length = 1 + random.below(7);
      const std::vector<std::string> some = events_of(reader, std::string_view{stream}.substr(at, length));
      events.insert(events.end(), some.begin(), some.end());
      at += length;
    }
    EXPECT_EQ(events, whole);
  }
}

TEST(EventStreamTest, AnEventBeyondTheBoundIsRefused) {
  EventReader line{16};
  EXPECT_THROW(events_of(line, "data: " + std::string(11, 'x')), Error);
  EventReader event{16};
  EXPECT_THROW(events_of(event, "data: 12345678\ndata: 12345678\n"), Error);
  EventReader comments{16};
  EXPECT_THAT(events_of(comments, ": 12345678\n: 12345678\n: 12345678\ndata: 1234567890\n\n"),
              ElementsAre("1234567890"));
}

}  // namespace
}  // namespace zeus::protocol
