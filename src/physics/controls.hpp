// The limits and locks set on a GPU. Plain values, trivially copyable; safe to place in shared memory.
#pragma once

#include "physics/gpu_model.hpp"

#include <zeus/units.hpp>

namespace zeus::physics {

struct Controls {
  Watts requested_limit;
  // A limit set out of band (by a management controller); it is enforced if it is lower than the requested one.
  Watts ceiling;
  bool clocks_locked = false;
  Megahertz lock_min;
  Megahertz lock_max;

  [[nodiscard]] Watts enforced_limit() const { return requested_limit < ceiling ? requested_limit : ceiling; }

  static Controls defaults(const GpuModel& model) {
    return {.requested_limit = model.limits.default_limit, .ceiling = model.limits.max};
  }

  friend bool operator==(const Controls&, const Controls&) = default;
};

}  // namespace zeus::physics
