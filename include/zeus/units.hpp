// Physical quantities as types, so that arithmetic between them is checked at compile time: Watts times Seconds is
// Joules, Joules divided by Seconds is Watts, and Watts plus Seconds does not compile. Plain values; copy them freely
// between threads. A quantity is one double, in the scale that its type names.
#pragma once

#include <zeus/export.hpp>

#include <compare>
#include <iosfwd>
#include <ratio>
#include <string_view>
#include <type_traits>

namespace zeus {

// Exponents of the base dimensions. Energy is a base dimension here because this library is about energy.
struct Dimension {
  int energy = 0;
  int time = 0;
  int temperature = 0;
  constexpr bool operator==(const Dimension&) const = default;
};

constexpr Dimension operator+(Dimension a, Dimension b) {
  return {a.energy + b.energy, a.time + b.time, a.temperature + b.temperature};
}
constexpr Dimension operator-(Dimension a, Dimension b) {
  return {a.energy - b.energy, a.time - b.time, a.temperature - b.temperature};
}

template <Dimension D, typename Scale = std::ratio<1>>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_{value} {}

  // The same dimension in another scale converts implicitly: Seconds from Milliseconds, Megahertz from Hertz.
  template <typename OtherScale>
    requires(!std::is_same_v<Scale, OtherScale>)
  constexpr Quantity(Quantity<D, OtherScale> other)  // NOLINT(google-explicit-constructor): lossless by design
      : value_{other.value() * ratio_value<std::ratio_divide<OtherScale, Scale>>()} {}

  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  constexpr Quantity& operator*=(double factor) { return *this = *this * factor; }
  constexpr Quantity& operator/=(double divisor) { return *this = *this / divisor; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity{-a.value_}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity{a.value_ * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity{factor * a.value_}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity{a.value_ / divisor}; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;
  friend constexpr Quantity abs(Quantity a) { return a.value_ < 0 ? -a : a; }

 private:
  template <typename Ratio>
  static constexpr double ratio_value() {
    return static_cast<double>(Ratio::num) / static_cast<double>(Ratio::den);
  }

  double value_ = 0.0;
};

namespace detail {

// A result without dimension is a plain number; any other keeps its dimension and scale.
template <Dimension D, typename Scale>
constexpr auto make_result(double value) {
  if constexpr (D == Dimension{}) {
    return value * static_cast<double>(Scale::num) / static_cast<double>(Scale::den);
  } else {
    return Quantity<D, Scale>{value};
  }
}

}  // namespace detail

template <Dimension A, typename ScaleA, Dimension B, typename ScaleB>
constexpr auto operator*(Quantity<A, ScaleA> a, Quantity<B, ScaleB> b) {
  return detail::make_result<A + B, std::ratio_multiply<ScaleA, ScaleB>>(a.value() * b.value());
}
template <Dimension A, typename ScaleA, Dimension B, typename ScaleB>
constexpr auto operator/(Quantity<A, ScaleA> a, Quantity<B, ScaleB> b) {
  return detail::make_result<A - B, std::ratio_divide<ScaleA, ScaleB>>(a.value() / b.value());
}
template <Dimension D, typename Scale>
constexpr auto operator/(double number, Quantity<D, Scale> quantity) {
  return detail::make_result<Dimension{} - D, std::ratio_divide<std::ratio<1>, Scale>>(number / quantity.value());
}

using Joules = Quantity<Dimension{.energy = 1}>;
using Millijoules = Quantity<Dimension{.energy = 1}, std::milli>;
using Seconds = Quantity<Dimension{.time = 1}>;
using Milliseconds = Quantity<Dimension{.time = 1}, std::milli>;
using Watts = Quantity<Dimension{.energy = 1, .time = -1}>;
using Milliwatts = Quantity<Dimension{.energy = 1, .time = -1}, std::milli>;
using Hertz = Quantity<Dimension{.time = -1}>;
using Megahertz = Quantity<Dimension{.time = -1}, std::mega>;
using Kelvins = Quantity<Dimension{.temperature = 1}>;

// A temperature on the Celsius scale is a point, not an amount: points differ by Kelvins and do not add.
class Celsius {
 public:
  constexpr Celsius() = default;
  constexpr explicit Celsius(double degrees) : degrees_{degrees} {}
  [[nodiscard]] constexpr double value() const { return degrees_; }

  friend constexpr Kelvins operator-(Celsius a, Celsius b) { return Kelvins{a.degrees_ - b.degrees_}; }
  friend constexpr Celsius operator+(Celsius a, Kelvins b) { return Celsius{a.degrees_ + b.value()}; }
  friend constexpr Celsius operator-(Celsius a, Kelvins b) { return Celsius{a.degrees_ - b.value()}; }
  friend constexpr auto operator<=>(Celsius a, Celsius b) = default;

 private:
  double degrees_ = 0.0;
};

namespace detail {

// "W"; empty for quantities without a name here.
template <typename Quantity>
inline constexpr std::string_view symbol_of{};
template <>
inline constexpr std::string_view symbol_of<Joules>{"J"};
template <>
inline constexpr std::string_view symbol_of<Millijoules>{"mJ"};
template <>
inline constexpr std::string_view symbol_of<Seconds>{"s"};
template <>
inline constexpr std::string_view symbol_of<Milliseconds>{"ms"};
template <>
inline constexpr std::string_view symbol_of<Watts>{"W"};
template <>
inline constexpr std::string_view symbol_of<Milliwatts>{"mW"};
template <>
inline constexpr std::string_view symbol_of<Hertz>{"Hz"};
template <>
inline constexpr std::string_view symbol_of<Megahertz>{"MHz"};
template <>
inline constexpr std::string_view symbol_of<Kelvins>{"K"};
template <>
inline constexpr std::string_view symbol_of<Celsius>{"°C"};

ZEUS_API std::ostream& print(std::ostream& stream, double number, std::string_view symbol);

}  // namespace detail

// "200 W": the number as the stream prints numbers, then the unit. (zeus/fmt.hpp does the same for {fmt}.)
template <typename Quantity>
  requires(!detail::symbol_of<Quantity>.empty())
std::ostream& operator<<(std::ostream& stream, const Quantity& quantity) {
  return detail::print(stream, quantity.value(), detail::symbol_of<Quantity>);
}

// Quantities as people write them: "200W", "1.5 kW", "2h"; a bare number is in the unit of the type. Must be finite and
// not negative. Anything else is an invalid_argument Error that quotes it and says what was expected.
ZEUS_API Joules parse_joules(std::string_view string);        // J, mJ, kJ, MJ, Wh, kWh
ZEUS_API Watts parse_watts(std::string_view string);          // W, mW, kW
ZEUS_API Seconds parse_seconds(std::string_view string);      // s, ms, us, ns, min, h
ZEUS_API Megahertz parse_megahertz(std::string_view string);  // MHz, kHz, GHz

inline namespace literals {

constexpr Joules operator""_J(long double value) {
  return Joules{static_cast<double>(value)};
}
constexpr Joules operator""_J(unsigned long long value) {
  return Joules{static_cast<double>(value)};
}
constexpr Watts operator""_W(long double value) {
  return Watts{static_cast<double>(value)};
}
constexpr Watts operator""_W(unsigned long long value) {
  return Watts{static_cast<double>(value)};
}
constexpr Seconds operator""_s(long double value) {
  return Seconds{static_cast<double>(value)};
}
constexpr Seconds operator""_s(unsigned long long value) {
  return Seconds{static_cast<double>(value)};
}
constexpr Milliseconds operator""_ms(long double value) {
  return Milliseconds{static_cast<double>(value)};
}
constexpr Milliseconds operator""_ms(unsigned long long value) {
  return Milliseconds{static_cast<double>(value)};
}
constexpr Megahertz operator""_MHz(long double value) {
  return Megahertz{static_cast<double>(value)};
}
constexpr Megahertz operator""_MHz(unsigned long long value) {
  return Megahertz{static_cast<double>(value)};
}
constexpr Celsius operator""_degC(long double value) {
  return Celsius{static_cast<double>(value)};
}
constexpr Celsius operator""_degC(unsigned long long value) {
  return Celsius{static_cast<double>(value)};
}

}  // namespace literals

}  // namespace zeus
