#include <zeus/units.hpp>

#include <gtest/gtest.h>

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
static_assert(!std::is_convertible_v<double, Watts>, "a number is no power until somebody says so");
static_assert(!std::is_convertible_v<Watts, double>, "and no power is a number until somebody asks for its value");
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

}  // namespace
}  // namespace zeus
