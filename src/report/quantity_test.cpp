#include "report/quantity.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

TEST(Quantity, IsReadInTheUnitThatFits) {
  EXPECT_EQ(readable(Joules{12.0}), "12.0 J");
  EXPECT_EQ(readable(Joules{1900.0}), "1900 J");
  EXPECT_EQ(readable(Joules{12'300.0}), "12.3 kJ");
  EXPECT_EQ(readable(Joules{4.56e9}), "4.560 GJ");
  EXPECT_EQ(readable(Seconds{90.0}), "90.0 s");
  EXPECT_EQ(readable(Seconds{5400.0}), "90.0 min");
  EXPECT_EQ(readable(Seconds{3.0e5}), "3.472 d");
}

TEST(Quantity, WhatWasLostHasItsSignAndNothingIsZero) {
  EXPECT_EQ(readable(Joules{-12'300.0}), "-12.3 kJ");
  EXPECT_EQ(readable(Joules{}), "0.000 J");
}

TEST(Quantity, HasOneUnitForAWholeColumn) {
  const Unit unit = unit_for(Joules{5e6});
  EXPECT_EQ(unit.name, "MJ");
  EXPECT_DOUBLE_EQ(unit.of(Joules{2.5e5}), 0.25);
}

}  // namespace
}  // namespace zeus::report
