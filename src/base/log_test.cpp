#include "base/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace zeus {
namespace {

TEST(Log, LinesBelowTheLevelGoNowhere) {
  std::vector<std::string> lines;
  const log::ScopedSink scope{[&](log::Level, std::string_view line) { lines.emplace_back(line); }};
  log::info("not said");
  log::warning("said");
  log::set_level(log::Level::info);
  log::info("said now");
  log::set_level(log::Level::warning);
  EXPECT_EQ(lines, (std::vector<std::string>{"said", "said now"}));
}

TEST(Log, TheSinkIsCalledByOneThreadAtATime) {
  std::vector<std::string> lines;  // unprotected on purpose: the thread sanitizer reports it if two threads meet here
  const log::ScopedSink scope{[&](log::Level, std::string_view line) { lines.emplace_back(line); }};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) {
        log::error("a line");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(lines.size(), 400U);
}

TEST(Log, TextIsTakenAsItIs) {
  std::string seen;
  const log::ScopedSink scope{[&](log::Level, std::string_view line) { seen = line; }};
  log::warning("{} %s {not a format}");
  EXPECT_EQ(seen, "{} %s {not a format}");
  testing::internal::CaptureStderr();
  log::set_sink({});
  log::warning("{} %s {not a format}");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("zeus: warning: {} %s {not a format}"), std::string::npos);
}

}  // namespace
}  // namespace zeus
