// What several kinds of these files must not exceed: larger numbers are mistakes.
#pragma once

#include <cstddef>

namespace zeus::trace {

inline constexpr int largest_batch_size = 1'000'000'000;
// Of one measurement.
inline constexpr double highest_frequency = 100'000;  // MHz
inline constexpr double longest_time = 1e6;           // s
inline constexpr double most_energy = 1e12;           // J

// Errors quote so many letters of a field.
inline constexpr std::size_t longest_quote = 60;

}  // namespace zeus::trace
