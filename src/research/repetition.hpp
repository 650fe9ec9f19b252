// A number that scatters from seed to seed, and the range in which one more repetition of the experiment lies in 95 of
// 100 cases: the paper's numbers are of one experiment each. A pure function; any thread.
#pragma once

#include <optional>
#include <vector>

namespace zeus::research {

struct Repetition {
  double value = 0.0;              // the mean
  std::optional<double> low = {};  // nothing if there is one seed
  std::optional<double> high = {};
};

// `of_seeds` is not empty.
Repetition repetition_of(const std::vector<double>& of_seeds);

}  // namespace zeus::research
