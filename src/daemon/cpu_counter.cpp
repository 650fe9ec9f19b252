#include "daemon/cpu_counter.hpp"

#include <algorithm>

namespace zeus::daemon {

Seconds longest_unread(const device::EnergyCounter& counter) {
  constexpr Seconds longest{30};
  return counter.wraps_at ? std::min(longest, *counter.wraps_at / CpuCounter::most_power / 2) : longest;
}

CpuCounter::Reading CpuCounter::take(const device::Stamped<Joules>& raw, const device::EnergyCounter& counter,
                                     std::uint64_t generation) {
  Joules step = last_ ? raw.value - last_->raw : Joules{0};
  bool goes_on = last_ && (!last_->generation || *last_->generation == generation);
  if (goes_on && step < Joules{0}) {
    step = counter.wraps_at ? step + *counter.wraps_at : step;
  }
  if (goes_on) {
    const Joules possible = most_power * std::max(raw.at - last_->at, Seconds{0}) + counter.resolution;
    // The counter wrapped, perhaps more than once, or was reset.
    const bool unseen = counter.wraps_at && raw.at - last_->at >= *counter.wraps_at / most_power;
    goes_on = step >= Joules{0} && step <= std::max(possible, most_power * Seconds{0.1}) && !unseen;
  }
  if (goes_on) {
    total_ = total_ + step;
  } else {
    began_ = raw.at;
    total_ = raw.value;
  }
  last_ = Last{raw.value, raw.at, generation};
  return {total_, began_};
}

std::optional<CpuCounter::Saved> CpuCounter::saved() const {
  if (!last_) {
    return std::nullopt;
  }
  return Saved{last_->raw, total_, last_->at.nanoseconds, began_.nanoseconds};
}

void CpuCounter::resume(const Saved& saved) {
  last_ = Last{saved.raw, Instant{saved.at_ns}, std::nullopt};
  total_ = saved.total;
  began_ = Instant{saved.began_ns};
}

}  // namespace zeus::daemon
