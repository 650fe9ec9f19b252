#include "command_line/value_text.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace zeus::command_line {
namespace {

template <typename Value>
Value read(std::string_view text, const field::Rule& rule = {}) {
  Value value{};
  read_value(text, rule, value);
  return value;
}

template <typename Value>
std::string why_not(std::string_view text, const field::Rule& rule = {}) {
  try {
    (void)read<Value>(text, rule);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return "it is taken";
}

TEST(Value, WholeNumbersAreWholeAndWithinTheirBounds) {
  EXPECT_EQ(read<int>("-7"), -7);
  EXPECT_EQ(read<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(why_not<int>("0", field::from_one), "'0' is not a whole number from 1");
  EXPECT_EQ(why_not<std::uint64_t>("-1"), "'-1' is not a whole number from 0");
  EXPECT_EQ(why_not<std::uint64_t>("18446744073709551616"),
            "'18446744073709551616' is not a whole number from 0, and not above 18446744073709551615");
  EXPECT_EQ(why_not<int>("3000000000", field::from_one),
            "'3000000000' is not a whole number from 1, and not above 2147483647");
  for (const char* const text : {"", " 1", "1 ", "1.5", "1e3", "0x10", "+1", "one", "nan", "1,000"}) {
    EXPECT_EQ(why_not<int>(text).find("it is taken"), std::string::npos) << text;
    EXPECT_EQ(why_not<std::uint64_t>(text).find("it is taken"), std::string::npos) << text;
  }
}

TEST(Value, NumbersAreFiniteAndWithinTheirBounds) {
  EXPECT_EQ(read<double>("-2.5e-3"), -0.0025);
  EXPECT_EQ(why_not<double>("1.5", field::share), "'1.5' is not a number from 0 to 1");
  EXPECT_EQ(why_not<double>("0", field::above_zero), "'0' is not a number above 0");
  for (const char* const text : {"", "nan", "-nan", "inf", "-inf", "infinity", "1e400", "1.5x", "0.5 "}) {
    EXPECT_EQ(why_not<double>(text).find("it is taken"), std::string::npos) << text;
  }
}

TEST(Value, IsInfiniteOnlyWhereInfinityIsAllowed) {
  constexpr field::Rule rule{.least = 0.0, .above_least = true, .null_is_infinite = true};
  EXPECT_EQ(read<double>("inf", rule), std::numeric_limits<double>::infinity());
  EXPECT_EQ(why_not<double>("-inf", rule), "'-inf' is not a number above 0, or inf");
  EXPECT_EQ(why_not<double>("nan", rule), "'nan' is not a number above 0, or inf");
}

TEST(Value, QuantitiesHaveUnits) {
  EXPECT_EQ(read<Seconds>("200ms"), Seconds{0.2});
  EXPECT_EQ(read<Watts>("1.5kW"), Watts{1500});
  EXPECT_EQ(read<Seconds>("5 s"), Seconds{5});
  EXPECT_EQ(why_not<Seconds>("1ms", {.least = 0.02, .most = 86400}), "'1ms' is not a time from 0.02 to 86400 seconds");
  EXPECT_EQ(why_not<Seconds>("0", field::above_zero), "'0' is not a time above 0 seconds");
  for (const char* const text : {"", "-1s", "nan", "inf", "5  s", "5m", "1e999"}) {
    EXPECT_EQ(why_not<Seconds>(text).find("it is taken"), std::string::npos) << text;
  }
}

TEST(Value, IsQuotedByALineAtMost) {
  const std::string why = why_not<int>(std::string(100'000, '\x1b'));
  EXPECT_LT(why.size(), 120U);
  EXPECT_EQ(why.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace zeus::command_line
