#include "pacing/clock_follower.hpp"

#include "base/log.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace zeus::pacing {
namespace {

// A clock that remembers what it was set to, and changes after a delay.
struct Chip {
  std::mutex mutex;
  std::condition_variable told;
  std::vector<double> locked;
  Instant since;
  Seconds takes{0};
  std::string refuses;
  bool put_back = false;

  // Waits until this many clocks were set; returns all of them.
  std::vector<double> after(std::size_t count) {
    std::unique_lock lock{mutex};
    told.wait_for(lock, std::chrono::seconds{20}, [&] { return locked.size() >= count; });
    return locked;
  }
};

class ChipClock final : public DrivenClock {
 public:
  ChipClock(Chip& chip, Clock& clock) : chip_{chip}, clock_{clock} {}

  void lock(Megahertz clock) override {
    {
      const std::lock_guard guard{chip_.mutex};
      if (!chip_.refuses.empty()) {
        throw Error{ErrorKind::permission_denied, chip_.refuses};
      }
      chip_.locked.push_back(clock.value());
      chip_.since = clock_.now();
    }
    chip_.told.notify_all();
  }
  [[nodiscard]] std::optional<Megahertz> running() override {
    const std::lock_guard guard{chip_.mutex};
    const bool there = clock_.now() - chip_.since >= chip_.takes;
    return Megahertz{there || chip_.locked.size() < 2 ? chip_.locked.back() : chip_.locked[chip_.locked.size() - 2]};
  }
  void renew() override {}
  void put_back() override {
    const std::lock_guard guard{chip_.mutex};
    chip_.put_back = true;
  }

 private:
  Chip& chip_;
  Clock& clock_;
};

const std::vector<PipelineInstruction> two_instructions{{"forward", Megahertz{900}}, {"backward", Megahertz{1380}}};

class ClockFollowerTest : public testing::Test {
 protected:
  std::unique_ptr<ClockFollower> follow(std::optional<Seconds> lead = Seconds{0.05}) {
    return std::make_unique<ClockFollower>(
        two_instructions, [this] { return std::make_unique<ChipClock>(chip_, clock_); }, clock_,
        PipelineClocksOptions{.lead = lead});
  }

  VirtualClock clock_;
  Chip chip_;
};

TEST_F(ClockFollowerTest, LocksTheFirstClockAtOnceAndEachNextOneInItsTurn) {
  const auto follower = follow(Seconds{0.001});
  EXPECT_EQ(chip_.after(1), std::vector<double>{900});
  follower->begin("forward");
  clock_.advance(Seconds{0.1});
  follower->end("forward");
  EXPECT_EQ(chip_.after(2), (std::vector<double>{900, 1380}));
  follower->begin("backward");
  follower->end("backward");
  follower->end_iteration();
  follower->begin("forward");
  EXPECT_EQ(chip_.after(3), (std::vector<double>{900, 1380, 900}));
  clock_.advance(Seconds{0.1});  // as long as the last forward took
  EXPECT_EQ(chip_.after(4), (std::vector<double>{900, 1380, 900, 1380}));
}

TEST_F(ClockFollowerTest, MeasuresHowLongAChangeTakes) {
  chip_.takes = Seconds{0.02};
  const auto follower = follow(std::nullopt);
  EXPECT_FALSE(follower->latency());
  follower->begin("forward");
  follower->end("forward");
  EXPECT_EQ(chip_.after(2), (std::vector<double>{900, 1380}));
  for (int tries = 0; tries < 2000 && !follower->latency(); ++tries) {
    clock_.advance(Seconds{0.005});
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  ASSERT_TRUE(follower->latency());
  EXPECT_GE(follower->latency()->value(), 0.02);
}

TEST_F(ClockFollowerTest, PutsBackWhatWasFoundWhenItEnds) {
  auto follower = follow();
  follower->close();
  EXPECT_TRUE(chip_.put_back);
  follower->begin("forward");
  EXPECT_EQ(chip_.after(1), std::vector<double>{900});
  follower.reset();
}

TEST_F(ClockFollowerTest, WithoutTheRightToSetItTheTrainingGoesOnWithOneWarningAndTheOrderIsHeld) {
  std::atomic<int> warnings = 0;
  const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view /*line*/) { ++warnings; }};
  chip_.refuses = "not permitted";
  const auto follower = follow();
  EXPECT_NE(follower->trouble().find("not permitted"), std::string::npos);
  EXPECT_EQ(warnings, 1);
  EXPECT_TRUE(chip_.put_back);
  follower->begin("forward");
  EXPECT_THROW(follower->begin("forward"), Error);
  follower->end("forward");
  follower->close();
  EXPECT_TRUE(chip_.locked.empty());
  EXPECT_EQ(warnings, 1);
}

TEST_F(ClockFollowerTest, ACallerThatReportsTroubleItselfIsLeftToDoSo) {
  std::atomic<int> warnings = 0;
  const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view /*line*/) { ++warnings; }};
  const ClockFollower follower{two_instructions,
                               []() -> std::unique_ptr<DrivenClock> {
                                 throw Error{ErrorKind::conflict, "another process has the GPU"};
                               },
                               clock_, PipelineClocksOptions{.log_trouble = false}};
  EXPECT_NE(follower.trouble().find("another process has the GPU"), std::string::npos);
  EXPECT_EQ(warnings, 0);
}

TEST_F(ClockFollowerTest, ALaterOneEndsTheFollowingWithAWordAndNotTheTraining) {
  std::atomic<int> warnings = 0;
  const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view /*line*/) { ++warnings; }};
  const auto follower = follow();
  {
    const std::lock_guard guard{chip_.mutex};
    chip_.refuses = "fell off the bus";
  }
  follower->begin("forward");
  follower->end("forward");
  for (int tries = 0; tries < 2000 && follower->trouble().empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  EXPECT_NE(follower->trouble().find("fell off the bus"), std::string::npos);
  follower->begin("backward");
  follower->end("backward");
  follower->end_iteration();
  follower->close();
  EXPECT_TRUE(chip_.put_back);
  EXPECT_EQ(warnings, 1);
}

TEST_F(ClockFollowerTest, AForkedChildDoesNothing) {
  const auto follower = follow();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    follower->begin("whatever");
    follower->close();
    ::_exit(follower->trouble().empty() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(chip_.put_back);
}

}  // namespace
}  // namespace zeus::pacing
