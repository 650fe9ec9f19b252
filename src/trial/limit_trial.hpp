// Measures and sets the power limits of a training by whatever progress it shows: steps, or epochs where those are too
// short or no steps are seen. Holds one limit, or compares several in slices of equal time and keeps the best. What was
// measured for a step is converted to an epoch. One thread; the arguments outlive it.
#pragma once

#include "base/clock.hpp"
#include "records/limit_profile.hpp"
#include "trial/gpus.hpp"
#include "trial/limit_slices.hpp"
#include "trial/progress.hpp"

#include <zeus/energy.hpp>
#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::trial {

class LimitTrial {
 public:
  LimitTrial(Gpus& gpus, Clock& clock) : gpus_{gpus}, clock_{clock} {}

  // Another training begins, under limits that are left as they are.
  void begin();
  // Sets this limit now, and keeps it.
  void hold(Watts limit);
  // Measures these limits from the next progress on, each for about this time. Then keeps the best one for the goal.
  void measure(std::vector<Watts> limits, Seconds each);
  // The same within as few steps as possible, at most this time for each limit, over whatever settings may be best, and
  // without a known end of the training.
  void search(Seconds each);
  // Measures this one limit for about this time. If `set`, sets it first.
  void watch(Watts limit, Seconds time, bool set);
  // Puts back the limits that were found.
  void leave();

  void take(const Progress& progress);
  // Starts the present measurement again, because time has passed that the training did not use.
  void measure_again();
  // Call it about once a minute while there is no progress; otherwise the limits in force would be put back.
  void stay();

  [[nodiscard]] bool measuring() const;
  // Whether it changes limits in order to measure them.
  [[nodiscard]] bool comparing() const { return task_ != Task::watch && measuring(); }
  // The limits measured last, as epochs of this shape; empty while these are unknown.
  [[nodiscard]] std::vector<records::LimitProfile> measured(const std::optional<EpochShape>& shape) const;
  // Whether it set any limit since the training began.
  [[nodiscard]] bool set_any() const { return set_any_; }
  // How many of the limits to be measured were not, as of leave(); 0 if none or all were.
  [[nodiscard]] std::size_t unmeasured() const { return unmeasured_; }

 private:
  enum class Unit { unknown, step, epoch };
  enum class Task { nothing, hold, measure, search, watch };

  [[nodiscard]] bool compares() const { return task_ == Task::measure || task_ == Task::search; }
  void drop_task();
  void begin_comparing();
  void note_setting();
  void begin_again();
  void forget();
  void start_over();
  void close_window();
  void look_on(std::uint64_t steps);
  void take_steps(const StepsDone& steps);
  void begin_count(Instant now);
  void take_epochs(std::uint64_t count);
  void pass_on(std::uint64_t steps);
  void end_epoch();
  void fit_slices(std::uint64_t epochs, double events);
  [[nodiscard]] Seconds word() const;
  [[nodiscard]] bool warming_up(Instant now) const;

  Gpus& gpus_;
  Clock& clock_;
  Task task_ = Task::nothing;
  bool under_way_ = false;  // the GPUs hold a limit, or compare some
  Unit unit_ = Unit::unknown;
  std::vector<Watts> limits_;
  Seconds each_;
  std::optional<Instant> first_step_;   // seen of the training
  std::optional<Instant> epoch_began_;  // the present one, unless it is the first
  // Progress events before a measurement begins: they show how long one takes.
  std::uint64_t words_ = 0;
  Instant first_word_;
  Instant last_word_;
  Seconds usual_word_;
  std::uint64_t events_in_epoch_ = 0;  // of steps at different times, whatever the task
  Instant last_event_;
  std::uint64_t events_in_count_ = 0;  // of steps since their count began again
  Instant count_began_;
  std::uint64_t held_back_ = 0;  // steps not passed on yet
  bool between_epochs_ = false;  // the measurement goes on with the next step
  bool opened_within_ = false;   // comparing began in the middle of the present epoch
  bool window_open_ = false;     // by watch()
  PowerMeasurement seen_;        // by watch(), in sums
  bool set_any_ = false;
  std::size_t unmeasured_ = 0;
  std::optional<PowerProfile> measured_;  // once that is over
};

}  // namespace zeus::trial
