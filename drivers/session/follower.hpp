// Makes process groups advance at a given speed, by stopping them for a part of the time. The decision is pure (call it
// from one thread with the time); ContinueGuard keeps groups from staying stopped if we are killed.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <span>

#include <optional>

namespace zeus::drivers {

class Follower {
 public:
  // How far the group may run ahead of its speed: little, so that steps of milliseconds are slowed one like the other.
  static constexpr Seconds slack{0.002};
  // The longest time between two checks, because the speed may change at any time.
  static constexpr Seconds longest_pause{0.050};

  struct Step {
    bool run = true;
    Seconds pause;  // until the next step is due
  };

  explicit Follower(Instant start) : last_{start} {}

  // What to do from now on, at a speed between 0 and 1 of full speed.
  Step step(Instant now, double speed);

 private:
  Instant last_;
  double former_speed_ = 1.0;
  bool running_ = true;
  Seconds ahead_;
};

// A separate process that continues the groups when this process ends, however it ends.
class ContinueGuard {
 public:
  ContinueGuard();
  ContinueGuard(const ContinueGuard&) = delete;
  ContinueGuard& operator=(const ContinueGuard&) = delete;
  ~ContinueGuard();

  // From now on these groups, instead of those before; the first 4096 of them. A negative number is a single process.
  void watch(std::span<const pid_t> groups);

 private:
  FileDescriptor lifeline_;
  pid_t process_ = -1;
};

}  // namespace zeus::drivers
