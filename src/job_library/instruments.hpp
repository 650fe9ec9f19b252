// What a try of zeus::Job is measured with and held under limits by: this machine's devices (live_instruments.hpp), or
// somebody who tells (told_instruments.hpp). One training at a time, one thread.
#pragma once

#include "jobs/try.hpp"
#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

// What an epoch consists of, where that has been seen.
struct EpochShape {
  std::optional<std::uint64_t> steps;  // of the first one
  double beside_steps = 0.0;           // how much longer it was than these, evaluation and the like: 0.1 for a tenth
};

class Instruments {
 public:
  using Taken = jobs::Try::Taken;

  Instruments() = default;
  Instruments(const Instruments&) = delete;
  Instruments& operator=(const Instruments&) = delete;
  virtual ~Instruments() = default;

  // Another training begins, and takes what is taken from now on.
  virtual void begin() = 0;
  // As in jobs/try.hpp. `run_time` is how long such a training took last.
  virtual void hold(Watts limit) = 0;
  virtual void leave() = 0;
  virtual void measure(const std::vector<Watts>& limits, std::optional<Seconds> run_time) = 0;
  [[nodiscard]] virtual std::vector<records::LimitProfile> measured(const EpochShape& shape) = 0;
  virtual Taken look() = 0;
  virtual Taken close() = 0;

  // What the training does.
  virtual void begin_step() = 0;
  virtual void end_steps() = 0;
  virtual void end_epoch() = 0;

  struct State {
    bool measuring = false;
    bool disturbed = false;  // as several limits are compared
    std::string left_alone;  // why limits are not set; empty where they are
    std::optional<Watts> limit;
    std::optional<Watts> found;
  };
  [[nodiscard]] virtual State state() = 0;
};

}  // namespace zeus::job_library
