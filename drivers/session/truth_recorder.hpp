// Writes down the true energy of a session's GPUs while it runs, at every moment at which their power changes, so that
// a straight line between two points is the truth. One thread.
#pragma once

#include "base/clock.hpp"
#include "drivers/session/session.hpp"

#include <zeus/units.hpp>

#include <string>
#include <vector>

namespace zeus::drivers {

class TruthRecorder {
 public:
  // How long `record` may wait for the next call without losing moments of an ordinary load.
  static constexpr Seconds interval{0.1};

  explicit TruthRecorder(const Session& session);

  // Everything up to now that is not yet written down.
  void record();
  // {"gpus":[{"index","energy_j":[[t,j],...]}]}, t in seconds on the session's clock, which is the machine's monotonic
  // one unless somebody moved it.
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
