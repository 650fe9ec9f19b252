#include "base/amount_text.hpp"

#include <gtest/gtest.h>

namespace zeus {
namespace {

TEST(AmountText, AnEnergyHasThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(to_text(Joules{}), "0 J");
  EXPECT_EQ(to_text(Joules{0.5}), "0.500 J");
  EXPECT_EQ(to_text(Joules{63.04}), "63.0 J");
  EXPECT_EQ(to_text(Joules{999.0}), "999 J");
  EXPECT_EQ(to_text(Joules{1560.0}), "1.56 kJ");
  EXPECT_EQ(to_text(Joules{1.414e6}), "1.41 MJ");
  EXPECT_EQ(to_text(Joules{-12'340.0}), "-12.3 kJ");
}

TEST(AmountText, PrintsOnlyTheDigitsThatTheIntervalSupports) {
  EXPECT_EQ(to_text(Joules{263'880.0}, Joules{263.9}), "263.88 ± 0.26 kJ");
  EXPECT_EQ(to_text(Joules{263'880.0}, Joules{26'390.0}), "264 ± 26 kJ");
  EXPECT_EQ(to_text(Joules{30'070.0}, Joules{101'420.0}), "30 ± 101 kJ");
  EXPECT_EQ(to_text(Joules{500.0}, Joules{2000.0}), "0.5 ± 2.0 kJ") << "both in one unit";
  EXPECT_EQ(to_text(Joules{1560.0}, std::nullopt), "1.56 kJ");
}

TEST(AmountText, AnIntervalIsNeverRoundedToZero) {
  EXPECT_EQ(to_text(Joules{534'001.2}, Joules{1.3}), "534,001.2 ± 1.3 J");
  EXPECT_EQ(to_text(Joules{534'001.2}, Joules{26.0}), "534.001 ± 0.026 kJ");
  EXPECT_EQ(to_text(Joules{2.0}, Joules{0.000'04}), "2.000000 ± 0.000040 J") << "there is no smaller unit";
  EXPECT_EQ(to_text(Seconds{7200.0}, Seconds{1.0}), "120.000 ± 0.017 min");
  EXPECT_EQ(to_text(Seconds{7200.0}, Seconds{1e-12}), "2.00 h") << "rounding alone";
  EXPECT_EQ(with_interval(0.534, 0.000'2, "MJ"), "0.53400 ± 0.00020 MJ");
  EXPECT_EQ(to_text(Joules{63.0}, Joules{}), "63.00 J") << "certain";
  EXPECT_EQ(to_text(Joules{63.0}, Joules{3e-15}), "63.00 J") << "rounding alone";
}

TEST(AmountText, AColumnIsInTheUnitThatShowsItsNarrowestInterval) {
  EnergyColumn column;
  column.fit(Joules{534'000.0}, Joules{120.0});
  column.fit(Joules{2'148'000.0}, Joules{20'000.0});
  column.fit(Joules{500'000.0}, std::nullopt);
  EXPECT_EQ(column.text(Joules{534'000.0}, Joules{120.0}), "534.00 ± 0.12 kJ");
  EXPECT_EQ(column.text(Joules{2'148'000.0}, Joules{20'000.0}), "2,148 ± 20 kJ");
  EXPECT_EQ(column.text(Joules{2'148'000.0}), "2,148 kJ");
  EXPECT_EQ(column.range(Joules{1'200'000.0}, Joules{1'200'200.0}), "1,200.00 to 1,200.20 kJ");
}

TEST(AmountText, LargeNumbersAreReadInThrees) {
  EXPECT_EQ(with_interval(1'234'567.891, 0.104, "J"), "1,234,567.89 ± 0.10 J");
  EXPECT_EQ(with_interval(-2516.67, 1897.4, "J"), "-2,517 ± 1,897 J");
  EXPECT_EQ(with_interval(-516.0, 97.4, "J"), "-516 ± 97 J");
  EXPECT_EQ(certain_digits(999.96, 1.25), "1,000.0");
  EXPECT_EQ(certain_digits(0.5, 0.0), "0.50");
}

TEST(AmountText, AColumnHasOneUnit) {
  EnergyColumn column;
  column.fit(Joules{1.414e6});
  column.fit(Joules{2.148e6});
  column.fit(std::nullopt);
  EXPECT_EQ(column.text(Joules{1.414e6}), "1.41 MJ");
  EXPECT_EQ(column.text(Joules{2.148e6}), "2.15 MJ");
  EXPECT_EQ(column.text(Joules{1.414e6}, Joules{20e3}), "1.414 ± 0.020 MJ");
  column.fit(Joules{8'430.0});
  EXPECT_EQ(column.text(Joules{8'430.0}), "0.008 MJ");
  EXPECT_EQ(column.text(Joules{2.148e6}), "2.148 MJ");
  EXPECT_EQ(column.range(Joules{1.2e6}, Joules{1.6e6}), "1.20 to 1.60 MJ");
}

TEST(AmountText, PrintsTimesAsPeopleWriteThem) {
  EXPECT_EQ(to_text(Seconds{}), "0 s");
  EXPECT_EQ(to_text(Seconds{0.312}), "0.31 s");
  EXPECT_EQ(to_text(Seconds{8.16}), "8.2 s");
  EXPECT_EQ(to_text(Seconds{59.97}), "1 min");
  EXPECT_EQ(to_text(Seconds{72.0}), "1 min 12 s");
  EXPECT_EQ(to_text(Seconds{3599.7}), "1 h");
  EXPECT_EQ(to_text(Seconds{-13'212.0}), "-3 h 40 min");
  EXPECT_EQ(to_text(Seconds{187'200.0}), "2 d 4 h");
}

TEST(AmountText, ATimeWithAnIntervalHasOneUnit) {
  EXPECT_EQ(to_text(Seconds{115.6}, Seconds{450.6}), "1.9 ± 7.5 min");
  EXPECT_EQ(to_text(Seconds{10.0}, Seconds{0.5}), "10.00 ± 0.50 s");
  EXPECT_EQ(to_text(Seconds{72.0}, std::nullopt), "1 min 12 s");
}

TEST(AmountText, AUnitFitsAWholeChart) {
  EXPECT_EQ(unit_for(Joules{5e6}).name, "MJ");
  EXPECT_DOUBLE_EQ(unit_for(Joules{5e6}).of(Joules{2.5e5}), 0.25);
  EXPECT_EQ(unit_for(Seconds{90.0}).name, "s");
  EXPECT_EQ(unit_for(Seconds{5400.0}).name, "min");
}

}  // namespace
}  // namespace zeus
