#include <zeus/energy.hpp>
#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>

namespace zeus {
namespace {

template <typename A, typename B>
concept Addable = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Comparable = requires(A a, B b) { a < b; };

static_assert(std::is_same_v<decltype(Watts{} * Seconds{}), Joules>);
static_assert(std::is_same_v<decltype(Joules{} / Seconds{}), Watts>);
static_assert(std::is_same_v<decltype(Joules{} / Watts{}), Seconds>);
static_assert(std::is_same_v<decltype(1.0 / Seconds{}), Hertz>);
static_assert(std::is_same_v<decltype(Watts{} / Watts{}), double>);
static_assert(std::is_same_v<decltype(Celsius{} - Celsius{}), Kelvins>);
static_assert(!Addable<Watts, Seconds>);
static_assert(!Addable<Watts, double>);
static_assert(!Addable<Celsius, Celsius>);
static_assert(!Comparable<Joules, Watts>);
static_assert(!std::is_convertible_v<double, Watts>, "a number is not a power until it is converted");
static_assert(!std::is_convertible_v<Watts, double>, "and a power is not a number until its value is read");
static_assert(!std::is_convertible_v<Watts, Joules>);
static_assert(sizeof(Watts) == sizeof(double));

TEST(Units, ScalesConvertWithinADimension) {
  EXPECT_DOUBLE_EQ(Seconds{250_ms}.value(), 0.25);
  EXPECT_DOUBLE_EQ(Milliseconds{2_s}.value(), 2000.0);
  EXPECT_DOUBLE_EQ(Hertz{1.5_MHz}.value(), 1.5e6);
  EXPECT_DOUBLE_EQ(Watts{Milliwatts{300500.0}}.value(), 300.5);
}

TEST(Units, ArithmeticAcrossScalesKeepsTheAmount) {
  EXPECT_DOUBLE_EQ(Joules{200_W * 50_ms}.value(), 10.0);
  EXPECT_DOUBLE_EQ(2_MHz * 3_ms, 6000.0);
  EXPECT_DOUBLE_EQ((90_J / 30_s).value(), 3.0);
}

TEST(Units, CompoundAssignmentAndComparison) {
  Watts power = 100_W;
  power += 50_W;
  power *= 2.0;
  power -= 20_W;
  power /= 4.0;
  EXPECT_EQ(power, 70_W);
  EXPECT_LT(power, 71_W);
  EXPECT_LT(-power, power);
}

TEST(Units, TemperaturesArePointsOnAScale) {
  EXPECT_DOUBLE_EQ((80_degC - 65_degC).value(), 15.0);
  EXPECT_EQ(65_degC + Kelvins{15.0}, 80_degC);
}

TEST(Units, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_watts("200W"), 200_W);
  EXPECT_EQ(parse_watts("1.5kW"), 1500_W);
  EXPECT_EQ(parse_watts("350"), 350_W);
  EXPECT_DOUBLE_EQ(parse_seconds("200ms").value(), 0.2);
  EXPECT_EQ(parse_seconds("2h"), 7200_s);
  EXPECT_EQ(parse_seconds("3min"), 180_s);
  EXPECT_EQ(parse_seconds("0"), 0_s);
  EXPECT_EQ(parse_megahertz("1.41GHz"), 1410_MHz);
  EXPECT_EQ(parse_joules("1.5kWh"), 5.4e6_J);
}

TEST(Units, RefusesWhatIsNotAQuantity) {
  for (const char* text :
       {"", "W", "-1W", "nan", "inf", "1e400", "1  W", "1 ", "1W ", "W200", "200V", "0x10", "1e308kW"}) {
    EXPECT_THROW(parse_watts(text), Error) << text;
  }
  EXPECT_THROW(parse_seconds("200W"), Error);
  EXPECT_THROW(parse_megahertz("5s"), Error);
}

TEST(Units, TheErrorNamesWhatWasReadAndWhatWasExpected) {
  try {
    parse_seconds("200W");
    FAIL() << "a power was read as a time";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'200W' is not a time such as 200ms, 1.5s, 2h or 30 (seconds)");
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  }
  EXPECT_THROW(parse_watts(std::string(1'000'000, '9') + "V"), Error);
}

template <typename Value>
std::string printed(const Value& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

TEST(Units, ArePrintedWithTheirUnitAndReadBack) {
  EXPECT_EQ(printed(200_W), "200 W");
  EXPECT_EQ(printed(1.5_s), "1.5 s");
  EXPECT_EQ(printed(Millijoules{20}), "20 mJ");
  EXPECT_EQ(printed(36.5_degC), "36.5 °C");
  std::ostringstream precise;
  precise << std::fixed << std::setprecision(2) << 1410_MHz;
  EXPECT_EQ(precise.str(), "1410.00 MHz");
  EXPECT_EQ(parse_watts(printed(200_W)), 200_W);
  EXPECT_EQ(parse_seconds(printed(1.5_s)), 1.5_s);
  EXPECT_EQ(parse_megahertz(precise.str()), 1410_MHz);
  EXPECT_EQ(parse_joules(printed(63_J)), 63_J);
}

TEST(Units, EnergiesArePrintedWithTheirUncertainty) {
  EXPECT_EQ(printed(Energy{.value = 63.04_J, .uncertainty = 0.41_J, .systematic = {}}), "63.04 ± 0.41 J");
}

}  // namespace
}  // namespace zeus
