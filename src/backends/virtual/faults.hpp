// The faults that a virtual GPU can be given. A plain value.
#pragma once

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::backends::virtual_gpu {

struct Faults {
  // Every reading, or every setting, fails for this reason: refused, not supported, timed out, lost.
  std::optional<Reason> reading;
  std::optional<Reason> setting;
  // The enforced limit is at most this, whatever was requested and accepted.
  std::optional<Watts> ceiling;
  // Each call takes this much longer, on the clock of the GPU.
  Seconds slowness;

  friend bool operator==(const Faults&, const Faults&) = default;
};

}  // namespace zeus::backends::virtual_gpu
