// How a virtual GPU misbehaves when it is told to. A plain value.
#pragma once

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::backends::virtual_gpu {

struct Faults {
  // Every reading, or every setting, fails for this reason: refused, not supported, timed out, lost.
  std::optional<Reason> reading;
  std::optional<Reason> setting;
  // The limit that is enforced is no higher than this, whatever was asked for and accepted.
  std::optional<Watts> ceiling;
  // Each call takes so much longer, on the clock of the GPU.
  Seconds slowness;

  friend bool operator==(const Faults&, const Faults&) = default;
};

}  // namespace zeus::backends::virtual_gpu
