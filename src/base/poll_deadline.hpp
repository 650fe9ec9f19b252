// How long a wait may still take, as poll() wants it. Any thread.
#pragma once

#include <zeus/units.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace zeus {

using PollDeadline = std::chrono::steady_clock::time_point;

// A patience longer than a year means a year.
inline PollDeadline deadline_after(Seconds patience) {
  constexpr Seconds at_most{3e7};
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>{std::min(patience, at_most).value()});
}

inline bool is_over(PollDeadline deadline) {
  return std::chrono::steady_clock::now() >= deadline;
}

// Never less than what is left, up to a quarter of an hour: a wait that found nothing is over only if is_over().
inline int milliseconds_until(PollDeadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 900'000));
}

}  // namespace zeus
