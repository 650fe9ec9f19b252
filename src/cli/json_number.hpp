// Quantities as the JSON of commands shows them: by their number, without the noise of the last binary digits. Pure
// functions; any thread.
#pragma once

#include <cmath>
#include <optional>

namespace zeus::cli {

template <typename Quantity>
double json_number(const Quantity& quantity) {
  return std::round(quantity.value() * 1e6) / 1e6;
}

template <typename Quantity>
std::optional<double> json_number(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional{json_number(*quantity)} : std::nullopt;
}

}  // namespace zeus::cli
