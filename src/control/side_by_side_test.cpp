#include "control/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>

#include <atomic>
#include <future>

namespace zeus::control {
namespace {

using ::testing::IsEmpty;

bool is_readable(int descriptor, int timeout_ms) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, timeout_ms) > 0;
}

TEST(SideBySide, OneThatHangsHoldsUpNoOtherInRealTime) {
  const SystemClock clock;
  SideBySide workers{clock};
  std::promise<void> end_of_hang;
  workers.start("GPU-0", [&] { end_of_hang.get_future().wait(); });
  workers.start("GPU-1", [] {});
  ASSERT_TRUE(is_readable(workers.has_finished(), 10'000));
  std::vector<SideBySide::Finished> finished = workers.take_finished();
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].gpu, "GPU-1");
  EXPECT_TRUE(workers.is_at_work_on("GPU-0"));
  EXPECT_FALSE(workers.is_at_work_on("GPU-1"));
  EXPECT_FALSE(is_readable(workers.has_finished(), 0));
  EXPECT_THAT(workers.take_finished(), IsEmpty());
  end_of_hang.set_value();
  ASSERT_TRUE(is_readable(workers.has_finished(), 10'000));
  EXPECT_EQ(workers.take_finished().size(), 1U);
  EXPECT_FALSE(workers.is_at_work_on("GPU-0"));
}

TEST(SideBySide, ItsEndWaitsForUnfinishedWorkInRealTime) {
  const SystemClock clock;
  std::atomic<int> done = 0;
  {
    SideBySide workers{clock};
    for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2"}) {
      workers.start(gpu, [&] { ++done; });
    }
  }
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace zeus::control
