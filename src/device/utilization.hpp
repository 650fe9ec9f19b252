// How busy a GPU was over its driver's last sampling period, as fractions from 0 to 1. A plain value.
#pragma once

namespace zeus::device {

struct Utilization {
  double gpu = 0;     // fraction of the time in which some kernel was running
  double memory = 0;  // fraction of the time in which memory was read or written

  friend bool operator==(const Utilization&, const Utilization&) = default;
};

}  // namespace zeus::device
