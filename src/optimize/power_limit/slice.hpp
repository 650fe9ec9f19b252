// A slice of training: some steps under one power setting. The first let the GPU settle, and the rest are measured.
// Plain values; copy them freely between threads.
#pragma once

#include "records/energy.hpp"
#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::optimize {

struct SliceRequest {
  records::PowerSetting setting;
  std::uint32_t settle = 0;
  std::uint32_t measure = 0;  // at least 1

  friend bool operator==(const SliceRequest&, const SliceRequest&) = default;
};

// The reading of a slice's window, over all its measured steps.
struct SliceReading {
  Seconds time;
  Seconds time_uncertainty;  // half-width of the 95 % interval
  records::Energy energy;    // summed over the GPUs of the job
  // The share of the time in which the power limit held the clock down, on the GPU that it held longest.
  std::optional<double> capped;
};

struct Slice {
  records::PowerSetting setting;
  std::uint32_t measure = 0;
  std::uint64_t begin = 0;  // how many steps of profiling came before its first measured one
  SliceReading reading;
};

}  // namespace zeus::optimize
