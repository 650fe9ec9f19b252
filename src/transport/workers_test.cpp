#include "transport/workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <string>
#include <vector>

namespace zeus::transport {
namespace {

TEST(Workers, RunWorkOfOneKeyInOrderBesideOthersInRealTime) {
  constexpr int each = 500;
  std::vector<int> first;
  std::vector<int> second;
  std::atomic<int> done{0};
  {
    Workers workers{4, 2000};
    for (int i = 0; i < each; ++i) {
      ASSERT_TRUE(workers.add("a", [&, i] { first.push_back(i), ++done; }));
      ASSERT_TRUE(workers.add("b", [&, i] { second.push_back(i), ++done; }));
    }
    while (done < 2 * each) {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(first.size(), std::size_t{each});
  EXPECT_TRUE(std::ranges::is_sorted(first));
  EXPECT_TRUE(std::ranges::is_sorted(second));
}

TEST(Workers, AreNotDelayedByASlowKeyInRealTime) {
  std::promise<void> go_on;
  const std::shared_future<void> told{go_on.get_future()};
  std::promise<void> other;
  Workers workers{2, 100};
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(workers.add("slow", [told] { told.wait(); }));
  }
  ASSERT_TRUE(workers.add("quick", [&] { other.set_value(); }));
  other.get_future().wait();
  go_on.set_value();
}

TEST(Workers, RefuseWorkAboveTheirLimitInRealTime) {
  std::promise<void> go_on;
  const std::shared_future<void> told{go_on.get_future()};
  std::promise<void> began;
  Workers workers{1, 3};
  ASSERT_TRUE(workers.add({}, [&, told] { began.set_value(), told.wait(); }));
  began.get_future().wait();
  EXPECT_EQ(workers.busy(), 1U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(workers.add("key", [] {}));
  }
  EXPECT_EQ(workers.waiting(), 3U);
  EXPECT_FALSE(workers.add("key", [] {}));
  EXPECT_FALSE(workers.add({}, [] {}));
  go_on.set_value();
}

}  // namespace
}  // namespace zeus::transport
