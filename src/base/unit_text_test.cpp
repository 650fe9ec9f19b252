#include "base/unit_text.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus {
namespace {

TEST(UnitText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_watts("200W"), 200_W);
  EXPECT_EQ(parse_watts("1.5kW"), 1500_W);
  EXPECT_EQ(parse_watts("350"), 350_W);
  EXPECT_DOUBLE_EQ(parse_seconds("200ms").value(), 0.2);
  EXPECT_EQ(parse_seconds("2h"), 7200_s);
  EXPECT_EQ(parse_seconds("3min"), 180_s);
  EXPECT_EQ(parse_seconds("0"), 0_s);
  EXPECT_EQ(parse_megahertz("1.41GHz"), 1410_MHz);
}

TEST(UnitText, RefusesWhatIsNotAQuantity) {
  for (const char* text : {"", "W", "-1W", "nan", "inf", "1e400", "1 W", "1W ", "W200", "200V", "0x10", "1e308kW"}) {
    EXPECT_THROW(parse_watts(text), Error) << text;
  }
  EXPECT_THROW(parse_seconds("200W"), Error);
  EXPECT_THROW(parse_megahertz("5s"), Error);
}

TEST(UnitText, TheErrorNamesTheTextAndWhatWasExpected) {
  try {
    parse_seconds("200W");
    FAIL() << "a power was read as a time";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'200W' is not a time such as 200ms, 1.5s, 2h or 30 (seconds)");
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  }
  EXPECT_THROW(parse_watts(std::string(1'000'000, '9') + "V"), Error);
}

}  // namespace
}  // namespace zeus
