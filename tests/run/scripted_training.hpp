// A script's training (truth_script.hpp) at one batch size: it starts up, loads a GPU with steps and evaluations that
// take as long as the GPU needs for them under its current limit, prints, and ends. Its owner brings it up to now at
// any rate, on any clock; late phases are compensated by the following ones. One thread.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "physics/load.hpp"
#include "tests/run/truth_printer.hpp"
#include "tests/run/truth_script.hpp"

#include <functional>
#include <memory>

namespace zeus::truth {

// The exit code of a command that ended because it was asked to.
inline constexpr int ended_by_signal = 143;

// The true cost of one run, until it reached its target or ended.
struct Took {
  std::size_t arm = 0;
  int epochs = 0;
  bool whole = false;  // it was not stopped
  Cost cost;
  Seconds late;  // after the time at which it should have ended
};

class ScriptedTraining {
 public:
  // The GPU as it is now; its energy can be read for a recent moment.
  struct Gpu {
    std::function<void(const physics::Demand&)> load;
    std::function<double()> work;  // done so far, in seconds at the highest clock without a limit
    std::function<double()> speed;
    std::function<Joules(Instant)> energy;
  };
  using Tell = std::function<void(const Took&)>;

  // It counts from `began` and is called first at `now`. `draws` decides how many epochs it needs and how its steps
  // scatter. `tell` is called once: at the target, or without one at the end.
  ScriptedTraining(const Script& script, std::size_t arm, Random& draws, Gpu gpu, const Show& show, Tell tell,
                   Instant began, Instant now);

  // Brings it up to now.
  void live(Instant now);
  // The time of the next event if nothing changes; it must not be over.
  [[nodiscard]] Instant next() const;
  [[nodiscard]] bool is_over() const { return phase_ == Phase::over; }
  // Ends it on request: it leaves the GPU.
  void end();

 private:
  enum class Phase { cold_start, start_up, step, evaluation, end, cold_end, over };

  [[nodiscard]] bool works() const { return phase_ == Phase::step || phase_ == Phase::evaluation; }
  [[nodiscard]] double part_of_run() const;
  void enter(Phase phase);
  void leave_phase();
  void end_epoch();
  void tell();

  Script script_;
  std::size_t index_;  // of its arm
  Arm arm_;
  Random& draws_;
  Gpu gpu_;
  Tell tell_;
  int epochs_;
  std::unique_ptr<Shown> shown_;
  Phase phase_ = Phase::cold_start;
  double left_ = 0.0;  // of this phase, in seconds at the highest clock; below 0: it should have been over
  Instant at_;
  double work_at_ = 0.0;
  int epoch_ = 0;      // over
  int step_ = 0;       // finished in this epoch
  int evaluated_ = 0;  // steps of evaluation, of those that are shown
  Instant began_;
  Joules energy_at_begin_;
  bool told_ = false;
};

}  // namespace zeus::truth
