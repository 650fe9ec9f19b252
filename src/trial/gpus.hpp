// The GPUs of a training, as a try uses them: windows of energy over them, and training sessions that set and compare
// their power limits. Implemented over train::Session (trial_sessions/session_gpus.hpp) for the program, and over the
// public headers for libzeus-jobs.so, which therefore has no sampler and no leases of its own. One thread.
#pragma once

#include "trial/energy_account.hpp"

#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::trial {

// How limits are compared: each for so many steps, after some in which the GPUs follow it.
struct Slices {
  struct Lengths {
    std::uint32_t settle = 1;
    std::uint32_t measure = 1;
    std::uint32_t wait = 0;  // steps at the beginning, before the first
  };
  std::vector<Watts> limits;       // empty: whatever settings may be best, again if the training changes
  std::optional<Lengths> lengths;  // empty: as few steps as possible
  std::uint32_t warm_up = 10;      // in that case, the steps before the first slice
};

class Gpus {
 public:
  Gpus() = default;
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;
  virtual ~Gpus() = default;

  [[nodiscard]] virtual Meter& meter() = 0;
  // Whether this user may set limits.
  [[nodiscard]] virtual bool sets_limits() const = 0;
  // The present limit; empty if the GPUs differ or do not report it.
  [[nodiscard]] virtual std::optional<Watts> limit_in_force() const = 0;

  // Another training begins. Earlier refusals are forgotten; the limits in force stay until they are changed.
  virtual void begin() = 0;
  // Sets this limit now and keeps it.
  virtual void hold(Watts limit) = 0;
  // Compares limits from now on, then keeps the best of them. The first step begins now.
  virtual void compare(const Slices& slices) = 0;
  // Asks whether the limit in force still is; if that is not known, limits are left alone from now on.
  virtual void confirm() = 0;
  // Puts back the limits that were found. What was compared stays known.
  virtual void leave() = 0;

  // The training's progress under hold() or compare(): epochs, and steps that are over since the last call. Without any
  // for a long time, limits are put back.
  virtual void begin_epoch() = 0;
  virtual void progress(std::uint64_t steps) = 0;
  virtual void end_epoch() = 0;

  // Whether slices of compare() are still to be measured.
  [[nodiscard]] virtual bool comparing() const = 0;
  // What the last compare() measured.
  [[nodiscard]] virtual PowerProfile compared() const = 0;
  // The limit that was chosen, once it is in force.
  [[nodiscard]] virtual std::optional<Watts> chosen() const = 0;
  // Why limits are left alone; empty if they are not.
  [[nodiscard]] virtual std::string left_alone() const = 0;
};

}  // namespace zeus::trial
