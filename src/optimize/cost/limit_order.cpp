#include "optimize/cost/limit_order.hpp"

#include <algorithm>
#include <cstddef>
#include <ranges>

namespace zeus::optimize {

namespace {

// Slices that show a lower limit faster than a higher one may be wrong by this share.
constexpr double error_of_slices = 0.2;

bool contradict(const records::LimitProfile& lower, const records::LimitProfile& higher) {
  return lower.epoch_time < (1.0 - error_of_slices) * higher.epoch_time;
}

// Pools neighbours that fall, then falling pools, until all values rise.
void make_rise(std::vector<double>& values) {
  struct Pool {
    double sum = 0.0;
    std::size_t count = 0;

    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({.sum = value, .count = 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  auto value = values.begin();
  for (const Pool& pool : pools) {
    value = std::fill_n(value, pool.count, pool.mean());
  }
}

}  // namespace

bool contradicts_itself(std::span<const records::LimitProfile> limits) {
  for (std::size_t higher = 1; higher < limits.size(); ++higher) {
    for (std::size_t lower = 0; lower < higher; ++lower) {
      if (contradict(limits[lower], limits[higher])) {
        return true;
      }
    }
  }
  return false;
}

void drop_contradictions(std::vector<records::LimitProfile>& limits) {
  while (contradicts_itself(limits)) {
    std::vector<std::size_t> contradicted(limits.size());
    for (std::size_t higher = 1; higher < limits.size(); ++higher) {
      for (std::size_t lower = 0; lower < higher; ++lower) {
        const std::size_t one = contradict(limits[lower], limits[higher]) ? 1 : 0;
        contradicted[lower] += one;
        contradicted[higher] += one;
      }
    }
    limits.erase(limits.begin() + (std::ranges::max_element(contradicted) - contradicted.begin()));
  }
}

std::vector<records::LimitProfile> in_order(std::span<const records::LimitProfile> limits) {
  std::vector<double> times;  // from the highest limit down
  std::vector<double> powers;
  for (const records::LimitProfile& one : limits) {
    times.push_back(one.epoch_time.value());
    powers.push_back(one.average_power.value());
  }
  std::ranges::reverse(times);
  make_rise(times);
  std::ranges::reverse(times);
  make_rise(powers);
  std::vector<records::LimitProfile> ordered{limits.begin(), limits.end()};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    ordered[i] = records::scaled(ordered[i], times[i] / ordered[i].epoch_time.value(),
                                 powers[i] / ordered[i].average_power.value());
  }
  return ordered;
}

}  // namespace zeus::optimize
