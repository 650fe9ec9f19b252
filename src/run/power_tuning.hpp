// Sets the power limits of a command that is watched from outside, over a train::Session. Holds one limit, or measures
// several while the command trains, by whatever progress it shows. Results per step are converted to epochs.
// One thread; the arguments outlive it.
#pragma once

#include "base/clock.hpp"
#include "records/limit_profile.hpp"
#include "run/progress.hpp"
#include "run/training_gpus.hpp"
#include "run/training_progress.hpp"
#include "train/session.hpp"

#include <zeus/training_options.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class PowerTuning {
 public:
  // `base` has the goal and the mode of all sessions, without a listener.
  PowerTuning(TrainingGpus& gpus, TrainingOptions base, Clock& clock);

  // Call it before another command trains.
  void begin_command() {
    first_step_.reset();
    epoch_began_.reset();
    set_any_ = false;
    unmeasured_ = 0;
  }
  // Sets this limit now, and keeps it.
  void hold(Watts limit);
  // Measures these limits from the next progress event on, each for about this time. Then keeps the best one for the
  // goal.
  void measure(std::vector<Watts> limits, Seconds each);
  // The same within as few steps as possible, at most this time for each limit, over all settable limits, and without a
  // known end of the training.
  void optimize(Seconds each);
  // Measures this one limit for about this time. If `set`, sets it first.
  void watch(Watts limit, Seconds time, bool set);
  // Restores the limits as found.
  void leave();

  void take(const Progress& progress);
  // Starts the present measurement again, because time has passed that the training did not use.
  void forget_what_is_measured();
  // Call it about once a minute while there is no progress; otherwise the limits in force would be put back.
  void stay();

  [[nodiscard]] bool measuring() const;
  // Whether it changes limits in order to measure them.
  [[nodiscard]] bool comparing() const { return task_ != Task::watch && measuring(); }
  // The measurements since measure(), as epochs of `progress`; empty while these are unknown.
  [[nodiscard]] std::vector<records::LimitProfile> profiles(const TrainingProgress& progress) const;
  // Why the limits were left alone; empty if they were not.
  [[nodiscard]] const std::string& left_alone() const { return left_alone_; }
  // The limit that it has chosen and set.
  [[nodiscard]] std::optional<Watts> chosen() const { return chosen_; }
  // Whether it set any limit while the command ran.
  [[nodiscard]] bool set_any() const { return set_any_; }
  // How many of the limits to be measured were not, as of leave(); 0 if none or all were.
  [[nodiscard]] std::size_t unmeasured() const { return unmeasured_; }
  // The result of optimize(), also after leave().
  [[nodiscard]] const std::optional<TrainingResult>& result() const { return result_; }

 private:
  enum class Unit { unknown, step, epoch };
  enum class Task { nothing, hold, measure, optimize, watch };

  void open(TrainingOptions options);
  void begin_measuring();
  void begin_again();
  void look_on(std::uint64_t steps);
  void hear(const TrainingEvent& event);
  void pass_on(std::uint64_t steps);
  void end_epoch();
  void fit_slices(std::uint64_t epochs);
  [[nodiscard]] Seconds word() const;
  [[nodiscard]] bool warming_up(Instant now) const;

  TrainingGpus& gpus_;
  TrainingOptions base_;
  Clock& clock_;
  std::unique_ptr<train::Session> session_;
  Task task_ = Task::nothing;
  Unit unit_ = Unit::unknown;
  std::vector<Watts> limits_;
  Seconds each_;
  std::optional<Instant> first_step_;   // seen of the command
  std::optional<Instant> epoch_began_;  // the present one, unless it is the first
  // Progress events before a measurement begins: they show how long one takes.
  std::uint64_t words_ = 0;
  Instant first_word_;
  Instant last_word_;
  std::uint64_t steps_in_epoch_ = 0;
  std::uint64_t held_back_ = 0;  // steps not passed on yet
  bool between_epochs_ = false;  // the measurement goes on with the next step
  bool window_open_ = false;     // by watch()
  PowerMeasurement seen_;        // by watch(), in sums
  std::optional<Watts> chosen_;
  bool set_any_ = false;
  std::size_t unmeasured_ = 0;
  std::string left_alone_;
  std::optional<PowerProfile> measured_;
  std::optional<TrainingResult> result_;
};

}  // namespace zeus::run
