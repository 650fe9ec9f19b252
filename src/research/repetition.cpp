#include "research/repetition.hpp"

#include "base/student_quantile.hpp"
#include "simulate/job_summary.hpp"

#include <cmath>

namespace zeus::research {

Repetition repetition_of(const std::vector<double>& of_seeds) {
  simulate::Spread spread;
  for (const double one : of_seeds) {
    spread.add(one);
  }
  if (of_seeds.size() < 2) {
    return {.value = spread.mean()};
  }
  const auto seeds = static_cast<double>(of_seeds.size());
  const double half =
      student_quantile(static_cast<int>(of_seeds.size()) - 1) * spread.deviation() * std::sqrt(1.0 + 1.0 / seeds);
  return {.value = spread.mean(), .low = spread.mean() - half, .high = spread.mean() + half};
}

}  // namespace zeus::research
