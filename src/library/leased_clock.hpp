// The clock of one of this machine's GPUs under a lease, at the settings under which pipelines are profiled and plans
// are followed: the power limit is the GPU's default, or the highest below it that a daemon's policy allows, and the
// memory clock its highest. Used by one thread at a time.
#pragma once

#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "pacing/clock_follower.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <vector>

namespace zeus::library {

// Throws a not_found Error if this program does not see a GPU of this number.
const device::Gpu& numbered_gpu(int gpu);

class LeasedClock final : public pacing::DrivenClock {
 public:
  // Takes the lease and makes the settings; an Error if either is refused. A memory clock that the GPU cannot lock
  // stays as it is.
  explicit LeasedClock(int gpu);

  void lock(Megahertz clock) override;
  // Highest first; empty if the driver does not list them.
  [[nodiscard]] std::vector<Megahertz> supported() const;
  [[nodiscard]] std::optional<Megahertz> running() override;
  void renew() override { lease_.renew(); }
  void put_back() override { lease_.release(); }

 private:
  control::Lease lease_;
};

}  // namespace zeus::library
