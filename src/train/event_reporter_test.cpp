#include "train/event_reporter.hpp"

#include "base/log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::train {
namespace {

TEST(EventReporter, GivesEachWarningOnceToTheUsersFunctionInsteadOfTheLog) {
  std::vector<std::string> logged;
  std::vector<std::string> given;
  const log::ScopedSink sink{[&](log::Level, std::string_view line) { logged.emplace_back(line); }};
  EventReporter reporter{nullptr, [&](std::string_view line) { given.emplace_back(line); }};
  reporter.warn("a");
  reporter.warn("b");
  reporter.warn("a");
  EXPECT_EQ(given, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(logged.empty());
}

TEST(EventReporter, AWarningThatTheUsersFunctionThrowsAtIsLogged) {
  std::vector<std::string> logged;
  const log::ScopedSink sink{[&](log::Level, std::string_view line) { logged.emplace_back(line); }};
  EventReporter reporter{nullptr, [](std::string_view) { throw std::runtime_error{"no"}; }};
  reporter.warn("a");
  EXPECT_EQ(logged, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace zeus::train
