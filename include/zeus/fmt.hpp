// Quantities, energies and readings for {fmt}: fmt::format("{:.1f}", 200_W) is "200.0 W". A quantity takes the format
// spec of a number, the others take none. Like the numbers of {fmt}, all are the same in every locale. Header-only, for
// programs that use {fmt}.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/energy.hpp>
#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <fmt/format.h>

#include <locale>
#include <sstream>
#include <string_view>

namespace zeus::detail {

// A number followed by its unit.
template <typename Quantity>
struct QuantityFormatter : fmt::formatter<double> {
  template <typename Context>
  auto format(Quantity quantity, Context& context) const {
    context.advance_to(fmt::formatter<double>::format(quantity.value(), context));
    return fmt::format_to(context.out(), " {}", symbol_of<Quantity>);
  }
};

// What a stream prints, whatever the program's global locale is.
template <typename Value>
struct StreamFormatter : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const Value& value, Context& context) const {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream << value;
    return fmt::formatter<std::string_view>::format(stream.view(), context);
  }
};

}  // namespace zeus::detail

template <zeus::Dimension D, typename Scale>
struct fmt::formatter<zeus::Quantity<D, Scale>> : zeus::detail::QuantityFormatter<zeus::Quantity<D, Scale>> {};
template <>
struct fmt::formatter<zeus::Celsius> : zeus::detail::QuantityFormatter<zeus::Celsius> {};
template <>
struct fmt::formatter<zeus::Energy> : zeus::detail::StreamFormatter<zeus::Energy> {};
template <>
struct fmt::formatter<zeus::MeasuredEnergy> : zeus::detail::StreamFormatter<zeus::MeasuredEnergy> {};
template <>
struct fmt::formatter<zeus::PowerSetting> : zeus::detail::StreamFormatter<zeus::PowerSetting> {};
template <>
struct fmt::formatter<zeus::Failure> : zeus::detail::StreamFormatter<zeus::Failure> {};
template <>
struct fmt::formatter<zeus::ThrottleReasons> : zeus::detail::StreamFormatter<zeus::ThrottleReasons> {};
template <typename T>
struct fmt::formatter<zeus::Reading<T>> : zeus::detail::StreamFormatter<zeus::Reading<T>> {};
