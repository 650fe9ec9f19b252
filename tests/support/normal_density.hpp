// The standard normal density with the standard library: for tests of code that computes it in its own way.
#pragma once

#include <cmath>
#include <numbers>

namespace zeus::test {

inline double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
}

}  // namespace zeus::test
