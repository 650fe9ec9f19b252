// Records the true energy of a session's GPUs while it runs, at every moment at which their power changes, so that the
// straight line between two points is exact. One thread.
#pragma once

#include "base/clock.hpp"
#include "drivers/session/session.hpp"

#include <zeus/units.hpp>

#include <string>
#include <vector>

namespace zeus::drivers {

class TruthRecorder {
 public:
  // The longest time between two calls of `record` without losing moments of an ordinary load.
  static constexpr Seconds interval{0.1};

  explicit TruthRecorder(const Session& session);

  // Everything up to now that is not yet recorded.
  void record();
  // {"gpus":[{"index","energy_j":[[t,j],...]}]}, with t in seconds on the session's clock, which is the machine's
  // monotonic clock unless it was moved.
  [[nodiscard]] std::string json() const;

 private:
  struct Point {
    Instant at;
    Joules energy;
  };

  const Session* session_;
  Instant recorded_;
  std::vector<std::vector<Point>> points_;
};

}  // namespace zeus::drivers
