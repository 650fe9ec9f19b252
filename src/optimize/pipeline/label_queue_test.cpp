#include "optimize/pipeline/label_queue.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace zeus::optimize::pipeline {
namespace {

TEST(LabelQueue, ReturnsTheFirstDueNodeAndTheLowestOfEquals) {
  LabelQueue queue{4};
  EXPECT_TRUE(queue.empty());
  queue.set(3, 7);
  queue.set(1, 7);
  queue.set(2, 9);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.first(), 1);
  EXPECT_EQ(queue.first_due(), 7);
  queue.set(2, 1);
  EXPECT_EQ(queue.first(), 2);
  queue.set(2, 8);
  EXPECT_EQ(queue.first(), 1);
  queue.remove(1);
  EXPECT_EQ(queue.first(), 3);
  queue.remove(1);
  queue.remove(3);
  queue.remove(2);
  EXPECT_TRUE(queue.empty());
}

TEST(LabelQueue, AdvanceNeverDelaysANode) {
  LabelQueue queue{2};
  queue.advance(0, 5);
  EXPECT_EQ(queue.first_due(), 5);
  queue.advance(0, 6);
  EXPECT_EQ(queue.first_due(), 5);
  queue.advance(0, 4);
  EXPECT_EQ(queue.first_due(), 4);
}

// Compares the queue with a plain list that is searched from end to end.
TEST(LabelQueue, BehavesLikeAPlainListUnderAnyCalls) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random{seed};
    constexpr std::size_t nodes = 40;
    LabelQueue queue{nodes};
    std::map<std::int32_t, std::int64_t> list;
    for (int call = 0; call < 400; ++call) {
      const auto node = static_cast<std::int32_t>(random.below(nodes));
      const auto due = static_cast<std::int64_t>(random.below(30));
      const std::uint64_t kind = random.below(4);
      if (kind <= 1) {
        queue.set(node, due);
        list[node] = due;
      } else if (kind == 2) {
        queue.advance(node, due);
        const auto known = list.find(node);
        list[node] = known == list.end() ? due : std::min(known->second, due);
      } else {
        queue.remove(node);
        list.erase(node);
      }
      ASSERT_EQ(queue.empty(), list.empty());
      if (!list.empty()) {
        const auto first = std::ranges::min_element(list, {}, [](const auto& entry) {
          return std::pair{entry.second, entry.first};
        });
        ASSERT_EQ(queue.first(), first->first);
        ASSERT_EQ(queue.first_due(), first->second);
      }
    }
    while (!list.empty()) {
      const auto first = std::ranges::min_element(list, {}, [](const auto& entry) {
        return std::pair{entry.second, entry.first};
      });
      ASSERT_EQ(queue.first(), first->first);
      queue.remove(first->first);
      list.erase(first);
    }
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace zeus::optimize::pipeline
