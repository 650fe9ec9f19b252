// Quantities, energies and readings for {fmt}: fmt::format("{:.1f}", 200_W) is "200.0 W". A quantity takes the format
// spec of a number, the others take none. Header-only, for programs that use {fmt}.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/energy.hpp>
#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <fmt/format.h>
#include <fmt/ostream.h>

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

}  // namespace zeus::detail

template <zeus::Dimension D, typename Scale>
struct fmt::formatter<zeus::Quantity<D, Scale>> : zeus::detail::QuantityFormatter<zeus::Quantity<D, Scale>> {};
template <>
struct fmt::formatter<zeus::Celsius> : zeus::detail::QuantityFormatter<zeus::Celsius> {};
template <>
struct fmt::formatter<zeus::Energy> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<zeus::MeasuredEnergy> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<zeus::PowerSetting> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<zeus::Failure> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<zeus::ThrottleReasons> : fmt::ostream_formatter {};
template <typename T>
struct fmt::formatter<zeus::Reading<T>> : fmt::ostream_formatter {};
