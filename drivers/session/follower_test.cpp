#include "drivers/session/follower.hpp"

#include "base/random.hpp"
#include "drivers/session/forked_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

namespace zeus::drivers {
namespace {

// Runs the follower for a while with steps as late as on a busy machine, and returns how long it let the group run.
Seconds granted(double speed, Seconds time, double lateness, std::uint64_t seed) {
  Random random{seed};
  Instant now{1'000'000'000};
  const Instant end = now + time;
  Follower follower{now};
  Seconds ran;
  while (now < end) {
    const Follower::Step step = follower.step(now, speed);
    const Seconds slept = step.pause * (1.0 + lateness * random.uniform());
    ran += step.run ? slept : Seconds{0};
    now = now + slept;
  }
  return ran / (now - (end - time)) * time;
}

TEST(Follower, GrantsTheShareOfTimeThatTheSpeedIs) {
  for (const double speed : {0.05, 0.3, 0.5, 0.77, 0.95}) {
    EXPECT_NEAR(granted(speed, Seconds{100}, 0.0, 1).value(), speed * 100, 0.05) << speed;
    EXPECT_NEAR(granted(speed, Seconds{100}, 0.9, 2).value(), speed * 100, 0.2) << speed;
  }
}

TEST(Follower, NeverStopsAGroupAtFullSpeed) {
  Follower follower{Instant{0}};
  for (std::int64_t i = 1; i < 100; ++i) {
    EXPECT_TRUE(follower.step(Instant{i * 50'000'000}, 1.0).run);
  }
}

TEST(Follower, FollowsAChangeOfSpeed) {
  Instant now{0};
  Follower follower{now};
  Seconds ran;
  while (now < Instant{20'000'000'000}) {
    const Follower::Step step = follower.step(now, now < Instant{10'000'000'000} ? 0.9 : 0.4);
    ran += step.run ? step.pause : Seconds{0};
    now = now + step.pause;
  }
  EXPECT_NEAR(ran.value(), 13.0, 0.1);
}

char state_of(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  return end == std::string::npos ? '?' : line[end + 2];
}

bool reaches_state(pid_t process, bool stopped) {
  for (int i = 0; i < 5000; ++i) {
    if ((state_of(process) == 'T') == stopped) {
      return true;
    }
    ::usleep(1000);
  }
  return false;
}

// A group of one process, which is watched as a group or by itself.
void expect_continued(bool as_group) {
  const ForkedChild child{[] {
    ::setpgid(0, 0);
    ::pause();
    return true;
  }};
  ::setpgid(child.process(), child.process());
  const pid_t target = as_group ? child.process() : -child.process();
  ForkedChild maker{[&] {
    ContinueGuard guard;
    guard.watch({});
    guard.watch(std::array{target});
    ::kill(-target, SIGSTOP);
    ::pause();
    return true;
  }};
  ASSERT_TRUE(reaches_state(child.process(), true));
  maker.kill();
  EXPECT_TRUE(reaches_state(child.process(), false));
}

TEST(ContinueGuard, ContinuesTheGroupWhenItsMakerIsKilled) {
  expect_continued(true);
}

TEST(ContinueGuard, ContinuesASingleProcessWhenItsMakerIsKilled) {
  expect_continued(false);
}

}  // namespace
}  // namespace zeus::drivers
