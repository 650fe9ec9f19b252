#include "base/clock.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace zeus {
namespace {

TEST(Instant, DaysLoseNoNanosecond) {
  const Instant start{.nanoseconds = 123};
  const Instant later = start + Seconds{86400.0 * 30};
  EXPECT_EQ(later.nanoseconds, 123 + 30LL * 86400 * 1'000'000'000);
  EXPECT_EQ((start + Seconds{1e-9}).nanoseconds, 124);
  EXPECT_EQ((start - Seconds{1e-9}).nanoseconds, 122);
  EXPECT_DOUBLE_EQ((later - start).value(), 86400.0 * 30);
}

TEST(SystemClock, SleepsUntilTheDeadlineAndNotLess) {
  SystemClock clock;
  const Instant deadline = clock.now() + 5_ms;
  clock.sleep_until(deadline);
  EXPECT_GE(clock.now(), deadline);
}

TEST(VirtualClock, StandsStillUntilAdvanced) {
  VirtualClock clock{Instant{.nanoseconds = 5}};
  EXPECT_EQ(clock.now(), clock.now());
  clock.advance(2_s);
  EXPECT_EQ(clock.now().nanoseconds, 2'000'000'005);
  clock.sleep_until(clock.now() + 1_s);
  EXPECT_EQ(clock.now().nanoseconds, 3'000'000'005);
  clock.sleep_until(Instant{});
  EXPECT_EQ(clock.now().nanoseconds, 3'000'000'005) << "a deadline in the past moves nothing";
}

TEST(VirtualClock, RefusesToGoBack) {
  VirtualClock clock;
  EXPECT_THROW(clock.advance(-1_s), Error);
}

TEST(VirtualClock, CivilTimeStepsWithoutTheMonotonicOne) {
  VirtualClock clock;
  clock.advance(1_s);
  clock.step_wall(-3600_s);
  EXPECT_EQ(clock.now().nanoseconds, 1'000'000'000);
  EXPECT_EQ(clock.wall().microseconds_since_epoch, -3'599'000'000);
}

// Many short waits against as many advances: a lost wake-up would hang this test.
TEST(VirtualClock, NoWaiterMissesItsDeadline) {
  VirtualClock clock;
  std::mutex mutex;
  std::condition_variable condition;
  std::atomic<bool> done{false};
  std::thread waiter{[&] {
    std::unique_lock lock{mutex};
    for (int i = 1; i <= 1000; ++i) {
      const Instant deadline = Instant{} + Seconds{static_cast<double>(i)};
      while (clock.now() < deadline) {
        clock.wait_until(lock, condition, deadline);
      }
    }
    done = true;
  }};
  for (int i = 0; i < 1000; ++i) {
    clock.advance(1_s);
  }
  waiter.join();
  EXPECT_TRUE(done);
}

TEST(VirtualClock, AWaiterCanBeWokenBeforeItsDeadline) {
  VirtualClock clock;
  std::mutex mutex;
  std::condition_variable condition;
  bool stop = false;
  std::thread waiter{[&] {
    std::unique_lock lock{mutex};
    while (!stop) {
      clock.wait_until(lock, condition, Instant{} + 1000_s);
    }
  }};
  {
    const std::lock_guard guard{mutex};
    stop = true;
    condition.notify_all();
  }
  waiter.join();
  EXPECT_EQ(clock.now(), Instant{});
}

}  // namespace
}  // namespace zeus
