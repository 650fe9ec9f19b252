// A training that a try watches: a command, a user's loop, the demo's network. One training at a time, one thread.
#pragma once

#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::trial {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Starts a new training in place of one that has ended.
  virtual void start(int batch_size, std::uint64_t seed) = 0;
  // Trains on until something happens, or for a while; returns its progress up to now. A loop, which trains when its
  // user says so, has none: it tells Trial::take() at once.
  virtual std::vector<Progress> go_on() = 0;
  // Asks it to end.
  virtual void stop() = 0;

  struct State {
    std::optional<int> exit_code;  // if it has ended
    bool interrupted = false;      // its end was requested from outside
    Seconds stood_still = {};      // for how long in all it was suspended
  };
  [[nodiscard]] virtual State state() = 0;
};

}  // namespace zeus::trial
