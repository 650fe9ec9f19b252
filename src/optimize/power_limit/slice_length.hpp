// How many steps a slice takes to settle and how many it measures, learned from earlier slices. A value; one thread at
// a time.
#pragma once

#include <zeus/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace zeus::optimize {

class SliceLength {
 public:
  // The numbers are those of the first slice; `settle_time` is how long a GPU takes to follow a new setting.
  // A slice of steps so slow that it takes more than `longest` has fewer of them.
  SliceLength(std::uint32_t measure, std::uint32_t warm_up, Seconds settle_time, std::optional<Seconds> longest = {})
      : measure_{measure}, settle_{warm_up}, settle_time_{settle_time}, longest_{longest} {}

  [[nodiscard]] std::uint32_t measure() const { return measure_; }
  [[nodiscard]] std::uint32_t settle() const { return settle_; }

  // A slice of `steps` steps took `time`, and the edges of its window blur the measurement by the relative amount
  // `blur`.
  void adapt(std::uint32_t steps, Seconds time, double blur) {
    if (blur > coarse_window) {
      measure_ = static_cast<std::uint32_t>(std::min(std::ceil(steps * 2.0 * blur / coarse_window), longest_slice));
    }
    const Seconds step = time / static_cast<double>(steps);
    if (longest_ && step * static_cast<double>(measure_) > *longest_) {
      measure_ = static_cast<std::uint32_t>(
          std::clamp(std::ceil(*longest_ / step), fewest_steps, std::max(static_cast<double>(measure_), fewest_steps)));
    }
    const double settling = settle_time_ / step;
    settle_ = settling < negligible_settling
                  ? 0
                  : static_cast<std::uint32_t>(std::clamp(std::ceil(settling), 1.0, longest_settling));
  }

 private:
  static constexpr double longest_slice = 40.0;
  static constexpr double longest_settling = 10.0;
  static constexpr double fewest_steps = 2.0;
  // A share of a step: settling then blurs the first step less than steps scatter.
  static constexpr double negligible_settling = 0.03;
  // A window is too short if its edges blur its mean by more than this.
  static constexpr double coarse_window = 0.02;

  std::uint32_t measure_;
  std::uint32_t settle_;
  Seconds settle_time_;
  std::optional<Seconds> longest_;
};

}  // namespace zeus::optimize
