#include "run/command_source.hpp"

#include "base/log.hpp"
#include "run/messages.hpp"
#include "tests/support/stepped_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace zeus::run {
namespace {

// Ends at once.
struct OverAtOnce final : Command {
  std::vector<trial::Progress> wait(Seconds /*patience*/) override { return {}; }
  [[nodiscard]] std::optional<int> exit_code() const override { return 0; }
  [[nodiscard]] std::optional<std::string> why_not_run() const override { return std::nullopt; }
  void end() override {}
  [[nodiscard]] bool told_to_end() const override { return false; }
  [[nodiscard]] std::optional<int> asked_to_end() override { return std::nullopt; }
  [[nodiscard]] Seconds stood_still() const override { return {}; }
  [[nodiscard]] Seen seen() const override { return {}; }
  void between_its_output(const std::function<void(bool mid_line)>& write) override { write(true); }
};

TEST(CommandSource, LinesThatOtherThreadsLogMeetNoCommandThatIsBeingReplacedInRealTime) {
  RunOptions options;
  options.command = {"train"};
  const Environment environment{Environment::Variables{}};
  test::SteppedClock clock;
  CommandSource source{options, environment, clock,
                       [](const Command::Plan& /*plan*/) { return std::make_unique<OverAtOnce>(); }};
  std::ostringstream err;
  Messages messages{err, false};
  constexpr int commands = 500;
  std::atomic<int> logged = 0;
  {
    const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view line) { messages.warn(line); }};
    messages.set_between([&](const Messages::Write& write) { source.between_its_output(write); });
    std::atomic<bool> over = false;
    std::thread other{[&] {
      while (!over) {
        log::warning("line " + std::to_string(logged++));
      }
    }};
    for (int number = 0; number < commands || logged == 0; ++number) {
      source.start(1, 0);
      messages.say("started");
    }
    over = true;
    other.join();
    messages.set_between({});
  }
  const std::string text = err.str();
  std::size_t lines = 0;
  for (std::size_t at = text.find("zeus: "); at != std::string::npos; at = text.find("zeus: ", at + 1)) {
    ++lines;
  }
  EXPECT_GE(lines, static_cast<std::size_t>(commands) + static_cast<std::size_t>(logged));
}

}  // namespace
}  // namespace zeus::run
