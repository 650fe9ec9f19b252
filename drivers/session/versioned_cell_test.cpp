#include "drivers/session/versioned_cell.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace zeus::drivers {
namespace {

struct Pair {
  std::uint64_t a = 0;
  std::uint64_t filler[30] = {};
  std::uint64_t b = 0;
};

TEST(VersionedCell, IsZeroUntilItIsWritten) {
  const auto cell = std::make_unique<VersionedCell<Pair>>();
  Pair pair{.a = 1, .b = 2};
  EXPECT_EQ(cell->read(pair), 0U);
  EXPECT_EQ(pair.a, 0U);
}

TEST(VersionedCell, GivesWhatWasWrittenLast) {
  const auto cell = std::make_unique<VersionedCell<Pair>>();
  for (std::uint64_t i = 1; i < 6; ++i) {
    cell->write({.a = i, .b = i * 2});
    Pair pair;
    EXPECT_EQ(cell->read(pair), i);
    EXPECT_EQ(pair.a, i);
    EXPECT_EQ(pair.b, i * 2);
  }
}

TEST(VersionedCell, ReadersNeverSeeHalfAValue) {
  const auto cell = std::make_unique<VersionedCell<Pair>>();
  std::atomic<bool> done = false;
  const std::jthread writer{[&] {
    for (std::uint64_t i = 1; i < 20'000; ++i) {
      cell->write({.a = i, .b = i});
    }
    done = true;
  }};
  std::uint64_t last = 0;
  while (!done) {
    Pair pair;
    cell->read(pair);
    ASSERT_EQ(pair.a, pair.b);
    ASSERT_GE(pair.a, last);
    last = pair.a;
  }
}

}  // namespace
}  // namespace zeus::drivers
