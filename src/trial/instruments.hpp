// What measures a try and sets its limits: the GPUs of this machine (gpu_instruments.hpp), or a user who reports the
// numbers. One training at a time, one thread.
#pragma once

#include "base/clock.hpp"
#include "jobs/try.hpp"
#include "records/limit_profile.hpp"
#include "trial/limit_slices.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::trial {

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
  [[nodiscard]] virtual std::vector<records::LimitProfile> measured(const std::optional<EpochShape>& shape) = 0;
  virtual Taken look() = 0;
  virtual Taken close() = 0;

  // The training's own progress, at the time at which it is seen.
  virtual void take(const Progress& progress) = 0;
  // The training stood still for a while: what is being measured is measured again.
  virtual void measure_again() = 0;
  // Call it about once a minute while there is no progress; otherwise limits would be put back.
  virtual void stay() = 0;

  struct State {
    bool measuring = false;
    bool disturbed = false;  // while several limits are compared
    std::string left_alone;  // why limits are not set; empty if they are
    std::optional<Watts> limit;
    std::optional<Watts> found;
  };
  [[nodiscard]] virtual State state() = 0;
};

}  // namespace zeus::trial
