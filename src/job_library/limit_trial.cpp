#include "job_library/limit_trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::job_library {

namespace {

// How many measured steps of a slice there are for each step to settle.
constexpr std::uint32_t measured_for_settled = 4;
// An epoch must be this many times as long as a slice: it also has steps to settle, and evaluation.
constexpr double epoch_for_a_slice = 2.0;
// Epochs that follow each other more quickly are reported together.
constexpr Seconds shortest_word{0.02};
// A GPU follows a new limit within a tenth of this: a longer slice needs no epoch to settle.
constexpr Seconds needs_no_settling{2.0};
constexpr std::uint32_t most_steps_of_a_slice = 1'000'000;
constexpr std::uint32_t most_epochs_of_a_slice = 4;

std::uint32_t count_for(Seconds time, Seconds one, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(time / one), 1.0, static_cast<double>(most)));
}

TrainingOptions options_of(const LimitTrial::Terms& terms, const SweepProfiling& profiling, std::uint32_t wait_steps) {
  TrainingOptions options;
  options.goal = terms.goal;
  options.eta = terms.eta;
  options.monitor = terms.monitor;
  options.profiling.limits = terms.limits;
  options.profiling.try_clocks = false;
  options.profiling.plan = profiling;
  options.profiling.wait_steps = wait_steps;
  options.profiling.drift_tolerance = 0;
  return options;
}

records::LimitProfile of_step(const PowerMeasurement& step) {
  return {.limit = step.setting.limit,
          .epoch_time = step.step_time,
          .average_power = step.step_energy.value / step.step_time,
          .epoch_time_uncertainty = step.step_time_uncertainty,
          .average_power_uncertainty = step.step_energy.uncertainty / step.step_time};
}

// An epoch of so many such steps, and of evaluation and the like. The effect of a limit on that part is unknown; it is
// mostly lighter work, and half the effect on steps is never far off.
records::LimitProfile of_epoch(const records::LimitProfile& step, const records::LimitProfile& highest,
                               const EpochShape& shape) {
  const double beside = 0.5 * shape.beside_steps;
  const Seconds time = step.epoch_time + (step.epoch_time + highest.epoch_time) * beside;
  const Joules of_highest = highest.average_power * highest.epoch_time;
  const Joules of_step = step.average_power * step.epoch_time;
  const Joules energy = of_step + (of_step + of_highest) * beside;
  return records::scaled(step, static_cast<double>(*shape.steps) * (time / step.epoch_time),
                         energy / time / step.average_power);
}

}  // namespace

void LimitTrial::hear(const TrainingEvent& event) {
  if (const auto* applied = std::get_if<SettingApplied>(&event)) {
    chosen_ = applied->optimum ? std::optional{applied->setting.limit} : std::nullopt;
  } else if (const auto* alone = std::get_if<Unoptimized>(&event)) {
    left_alone_ = alone->why;
    chosen_.reset();
  }
}

void LimitTrial::open(const SweepProfiling& profiling, std::uint32_t wait_steps) {
  TrainingOptions options = options_of(terms_, profiling, wait_steps);
  options.listener = [this](const TrainingEvent& event) { hear(event); };
  training_.emplace(options);
}

bool LimitTrial::measuring() const {
  return left_alone_.empty() && (!training_ || training_->profiling());
}

// The first steps of a training are unlike the rest: libraries initialise and try out what is fastest.
void LimitTrial::begin_step() {
  const Instant now = clock_.now();
  if (epoch_steps_++ == 0) {
    epoch_began_ = now;
  }
  if (by_epochs_) {
    return;
  }
  if (steps_ == 0) {
    first_step_ = now;
  }
  if (!training_ && steps_ > 0 && now - first_step_ >= terms_.each) {
    const std::uint32_t measure =
        count_for(terms_.each, (now - first_step_) / static_cast<double>(steps_), most_steps_of_a_slice);
    open({.settle = (measure + measured_for_settled - 1) / measured_for_settled, .measure = measure}, 0);
  }
  ++steps_;
  if (training_) {
    training_->begin_step();
  }
}

void LimitTrial::end_steps() {
  if (training_ && !by_epochs_) {
    training_->end_steps();
  }
}

void LimitTrial::end_epoch() {
  const bool stepped = epoch_steps_ > 0;
  if (!by_epochs_ && stepped) {
    if (training_) {
      training_->end_epoch();
    }
    fit_slices();
  } else {
    by_epochs_ = true;
    pass_on_epoch();
  }
  epoch_steps_ = 0;
}

// A slice longer than an epoch would never end. So measure shorter ones, or whole epochs if they are too short for
// slices.
void LimitTrial::fit_slices() {
  const Seconds epoch = clock_.now() - epoch_began_;
  if (!measuring() || epoch >= terms_.each * epoch_for_a_slice) {
    return;
  }
  training_.reset();
  steps_ = 0;
  by_epochs_ = epoch < shortest_slice * epoch_for_a_slice;
  if (!by_epochs_) {
    terms_.each = epoch / epoch_for_a_slice;
  }
}

void LimitTrial::pass_on_epoch() {
  const Instant now = clock_.now();
  ++untold_epochs_;
  const Seconds since = last_word_ ? now - *last_word_ : Seconds{};
  if (last_word_ && since < shortest_word) {
    return;
  }
  if (training_) {
    training_->progress(std::exchange(untold_epochs_, 0));
  } else if (last_word_) {
    const std::uint32_t measure = count_for(terms_.each, since, most_epochs_of_a_slice);
    const bool settles = since * static_cast<double>(measure) >= needs_no_settling;
    open({.settle = settles ? 0U : 1U, .measure = measure}, 0);
    training_->begin_epoch();
    training_->progress(0);
  }
  untold_epochs_ = 0;
  last_word_ = clock_.now();
}

std::vector<records::LimitProfile> LimitTrial::measured(const EpochShape& shape) const {
  if (!training_ || (!by_epochs_ && !shape.steps)) {
    return {};
  }
  std::vector<records::LimitProfile> profiles;
  for (const PowerMeasurement& one : training_->profile().measurements) {
    if (!one.setting.clock) {
      profiles.push_back(of_step(one));
    }
  }
  std::ranges::sort(profiles, {}, &records::LimitProfile::limit);
  if (!by_epochs_ && !profiles.empty()) {
    const records::LimitProfile highest = profiles.back();
    for (records::LimitProfile& one : profiles) {
      one = of_epoch(one, highest, shape);
    }
  }
  return profiles;
}

}  // namespace zeus::job_library
