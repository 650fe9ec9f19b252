// Means and percentiles of what was measured in consecutive parts of a window, with 95 % intervals from how these parts
// differ. Neighbouring parts may depend on each other. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace zeus::serving {

struct Interval {
  double value = 0;
  double half_width = 0;
};

// The sum of the one over the sum of the other, of parts in their order. Nothing for fewer than three parts, or if the
// sum below is 0.
std::optional<Interval> ratio(std::span<const double> above, std::span<const double> below);

// A value and the part that it belongs to.
struct PartValue {
  double value = 0;
  std::size_t part = 0;
};

struct Percentile {
  double value = 0;
  std::optional<double> low = {};  // unknown if there are too few values on that side
  std::optional<double> high = {};
};

// The value that a share of all lies at or below, between two of them in proportion. `values` are sorted by it. Nothing
// without values.
std::optional<Percentile> percentile(std::span<const PartValue> values, std::size_t parts, double share);

}  // namespace zeus::serving
