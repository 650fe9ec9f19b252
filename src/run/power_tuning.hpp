// The power limits of a command that is seen from outside, over a train::Session: holds one, or measures some while the
// command trains, by whatever progress there is. What is measured per step becomes what an epoch takes.
// One thread; what it is given outlives it.
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
  // Five ticks of a counter that counts ten times a second.
  static constexpr Seconds shortest_slice{0.5};

  // `base` has the goal and the mode of all sessions, and no listener.
  PowerTuning(TrainingGpus& gpus, TrainingOptions base, Clock& clock);

  // Another command trains from now on.
  void begin_command() {
    first_step_.reset();
    epoch_began_.reset();
    set_any_ = false;
    unmeasured_ = 0;
  }
  // Puts this limit in force now, and keeps it.
  void hold(Watts limit);
  // Measures these limits from the next word of progress on, each for about so long, and then keeps the one that the
  // goal likes best.
  void measure(std::vector<Watts> limits, Seconds each);
  // The same as few steps as it takes, with all that may be set, and without an end in mind.
  void optimize();
  // Measures the one limit that there is, for about so long; puts it in force now, unless it is.
  void watch(Watts limit, Seconds time, bool set);
  // As found.
  void leave();

  void take(const Progress& progress);
  // What is being measured is measured anew: time has passed that was not the training's.
  void forget_what_is_measured();
  // To be called every minute or so where there is no progress: what is in force would else be put back.
  void stay();

  [[nodiscard]] bool measuring() const;
  // Whether limits are changed for that.
  [[nodiscard]] bool comparing() const { return task_ != Task::watch && measuring(); }
  // What has been measured since measure(), as epochs of `progress`; empty while that cannot be said.
  [[nodiscard]] std::vector<records::LimitProfile> profiles(const TrainingProgress& progress) const;
  // Why the limits were left alone; empty where they were not.
  [[nodiscard]] const std::string& left_alone() const { return left_alone_; }
  // The limit that is in force because of us, once it is the choice.
  [[nodiscard]] std::optional<Watts> chosen() const { return chosen_; }
  // Whether any was set while the command ran.
  [[nodiscard]] bool set_any() const { return set_any_; }
  // How many were to be measured and were not when they were left; 0 where none or all were.
  [[nodiscard]] std::size_t unmeasured() const { return unmeasured_; }
  // Of optimize(), after leave() too.
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
  std::optional<Instant> first_step_;   // that was seen of the command
  std::optional<Instant> epoch_began_;  // the one under way, but for the first
  // Words of progress before a measurement begins: how long one takes.
  std::uint64_t words_ = 0;
  Instant first_word_;
  Instant last_word_;
  std::uint64_t steps_in_epoch_ = 0;
  std::uint64_t held_back_ = 0;  // steps not passed on yet
  bool between_epochs_ = false;  // what is measured goes on with the next step
  bool window_open_ = false;     // of watch()
  PowerMeasurement seen_;        // by it, in sums
  std::optional<Watts> chosen_;
  bool set_any_ = false;
  std::size_t unmeasured_ = 0;
  std::string left_alone_;
  std::optional<PowerProfile> measured_;
  std::optional<TrainingResult> result_;
};

}  // namespace zeus::run
