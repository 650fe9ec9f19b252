// What measures a try of zeus::Job and sets its limits: this machine's devices (live_instruments.hpp), or a user who
// reports the numbers (reported_instruments.hpp). One training at a time, one thread.
#pragma once

#include "jobs/try.hpp"
#include "records/limit_profile.hpp"
#include "trial/limit_slices.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class Instruments {
 public:
  using Taken = jobs::Try::Taken;

  Instruments() = default;
  Instruments(const Instruments&) = delete;
  Instruments& operator=(const Instruments&) = delete;
  virtual ~Instruments() = default;

  // Another training begins: time and energy from now on are its own.
  virtual void begin() = 0;
  // As in jobs/try.hpp.
  virtual void hold(Watts limit) = 0;
  virtual void leave() = 0;
  virtual void measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) = 0;
  // As epochs of this shape, if steps were seen in one; ascending, empty while unknown.
  [[nodiscard]] virtual std::vector<records::LimitProfile> measured(const std::optional<trial::EpochShape>& shape) = 0;
  virtual Taken look() = 0;
  virtual Taken close() = 0;

  // The training's own progress.
  virtual void begin_step() = 0;
  virtual void end_steps() = 0;
  virtual void end_epoch() = 0;

  struct State {
    bool measuring = false;
    bool disturbed = false;    // while several limits are compared
    bool stood_still = false;  // the process was suspended for a while
    std::string left_alone;    // why limits are not set; empty if they are
    std::optional<Watts> limit;
    std::optional<Watts> found;
  };
  [[nodiscard]] virtual State state() = 0;
};

}  // namespace zeus::job_library
