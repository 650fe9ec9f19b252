// The running mean of values and their scatter. A value; one thread at a time.
#pragma once

#include <cmath>
#include <optional>

namespace zeus::jobs {

struct Scatter {
  int count = 0;
  double mean = 0.0;
  double squares = 0.0;  // of the differences from the mean, summed

  void add(double value) {
    ++count;
    const double step = value - mean;
    mean += step / count;
    squares += step * (value - mean);
  }
  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.count, self.mean, self.squares);
  }

  // Of one value; nothing if there are fewer than two.
  [[nodiscard]] std::optional<double> deviation() const {
    return count < 2 ? std::nullopt : std::optional{std::sqrt(squares / (count - 1))};
  }
};

}  // namespace zeus::jobs
