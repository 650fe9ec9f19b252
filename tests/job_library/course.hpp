// A training whose every figure is known: its number of epochs, and their costs under each limit. Pure functions.
#pragma once

#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <vector>

namespace zeus::test::course {

inline constexpr double target = 0.9;
inline constexpr int most_epochs = 12;
inline const std::vector<int> batch_sizes{16, 32, 64, 128};
inline constexpr int default_batch_size = 64;
inline const std::vector<Watts> limits{Watts{100}, Watts{175}, Watts{250}};
inline constexpr Watts max_power{250};

// Small batches take fewer epochs, the largest one never reaches the target, and the number is partly random.
inline int epochs_needed(int batch_size, std::uint64_t seed) {
  if (batch_size == 128) {
    return most_epochs + 1;
  }
  return 3 + batch_size / 16 + static_cast<int>(seed * 2'654'435'761U % 3);
}

inline double metric(int batch_size, std::uint64_t seed, int epochs) {
  return target * epochs / epochs_needed(batch_size, seed);
}

inline Seconds epoch_time(int batch_size, Watts limit) {
  return Seconds{(40.0 + 640.0 / batch_size) * (limit < Watts{150} ? 1.4 : limit < Watts{200} ? 1.1 : 1.0)};
}

inline Watts power(Watts limit) {
  return 0.8 * limit + Watts{20};
}

inline LimitProfile profile(int batch_size, Watts limit) {
  return {.limit = limit, .epoch_time = epoch_time(batch_size, limit), .average_power = power(limit)};
}

inline std::vector<LimitProfile> profiles(int batch_size, const std::vector<Watts>& asked) {
  std::vector<LimitProfile> all;
  for (const Watts limit : asked) {
    all.push_back(profile(batch_size, limit));
  }
  return all;
}

// The cost of measuring the limits.
inline constexpr Seconds measuring{10};
inline constexpr Joules measuring_energy{1500};

}  // namespace zeus::test::course
