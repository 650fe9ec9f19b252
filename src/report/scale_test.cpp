#include "report/scale.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zeus::report {
namespace {

std::string scale_labels(const Scale& scale, int wanted) {
  std::string text;
  for (const Tick& tick : scale.ticks(wanted)) {
    text += tick.label + " ";
  }
  return text;
}

TEST(Scale, IsAnAxisWhenLinear) {
  const Scale scale{false, 0.0, 10.0, 100.0, 200.0};
  EXPECT_DOUBLE_EQ(scale.at(5.0), 150.0);
  EXPECT_EQ(scale_labels(scale, 5), "0 2 4 6 8 10 ");
}

TEST(Scale, SpacesDoublingsEvenlyWhenLogarithmic) {
  const Scale scale{true, 8.0, 128.0, 0.0, 400.0};
  EXPECT_DOUBLE_EQ(scale.at(8.0), 0.0);
  EXPECT_DOUBLE_EQ(scale.at(16.0), 100.0);
  EXPECT_DOUBLE_EQ(scale.at(128.0), 400.0);
  EXPECT_EQ(scale_labels(scale, 8), "8 16 32 64 128 ");
}

TEST(Scale, LeavesOutDoublingsThatWouldNotFit) {
  EXPECT_EQ(scale_labels(Scale{true, 1.0, 65536.0, 0.0, 400.0}, 4), "1 16 256 4096 65536 ");
}

TEST(Scale, HasRoundNumbersIfThereAreFewerThanTwoDoublings) {
  EXPECT_EQ(scale_labels(Scale{true, 36.0, 90.0, 0.0, 400.0}, 5), "40 60 80 ");
  EXPECT_EQ(scale_labels(Scale{true, 0.9, 3.4, 0.0, 400.0}, 5), "1.0 1.5 2.0 2.5 3.0 ");
}

TEST(Scale, KeepsTwoDoublingsIfTheyFillTheAxis) {
  EXPECT_EQ(scale_labels(Scale{true, 61.0, 134.0, 0.0, 400.0}, 5), "64 128 ");
}

TEST(Scale, HasTicksBelowOne) {
  EXPECT_EQ(scale_labels(Scale{true, 0.5, 2.0, 0.0, 400.0}, 4), "0.5 1 2 ");
}

}  // namespace
}  // namespace zeus::report
