// The running mean of values and their scatter. A value; one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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

// How many standard errors a mean may be off on either side with a probability of 95 %, if its deviation comes from
// `freedom` independent differences (1 or more).
inline double student_quantile(int freedom) {
  constexpr std::array quantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  return quantiles.at(std::min(static_cast<std::size_t>(std::max(freedom, 1)), quantiles.size()) - 1);
}

}  // namespace zeus::jobs
