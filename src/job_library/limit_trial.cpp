#include "job_library/limit_trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::job_library {

namespace {

// How many measured steps of a slice there are for each step to settle.
constexpr std::uint32_t measured_for_settled = 4;
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

void LimitTrial::begin_again() {
  if (!measuring()) {
    return;
  }
  training_.reset();
  steps_ = 0;
  untold_epochs_ = 0;
  last_word_.reset();
}

// A slice longer than an epoch would never end. So measure shorter ones, or whole epochs if they are too short for
// slices.
void LimitTrial::fit_slices() {
  const Seconds epoch = clock_.now() - epoch_began_;
  if (!measuring() || epoch >= terms_.each * trial::epoch_for_a_slice) {
    return;
  }
  training_.reset();
  steps_ = 0;
  by_epochs_ = epoch < trial::shortest_slice * trial::epoch_for_a_slice;
  if (!by_epochs_) {
    terms_.each = epoch / trial::epoch_for_a_slice;
  }
}

void LimitTrial::pass_on_epoch() {
  const Instant now = clock_.now();
  ++untold_epochs_;
  const Seconds since = last_word_ ? now - *last_word_ : Seconds{};
  if (last_word_ && since < trial::shortest_event) {
    return;
  }
  if (training_) {
    training_->progress(std::exchange(untold_epochs_, 0));
  } else if (last_word_) {
    const std::uint32_t measure = count_for(terms_.each, since, most_epochs_of_a_slice);
    const bool settles = since * static_cast<double>(measure) >= trial::needs_no_settling;
    open({.settle = settles ? 0U : 1U, .measure = measure}, 0);
    training_->begin_epoch();
    training_->progress(0);
  }
  untold_epochs_ = 0;
  last_word_ = clock_.now();
}

std::vector<records::LimitProfile> LimitTrial::measured(const std::optional<trial::EpochShape>& shape) const {
  if (!training_ || (!by_epochs_ && !shape)) {
    return {};
  }
  return trial::limit_profiles(training_->profile(), by_epochs_ ? std::nullopt : shape);
}

}  // namespace zeus::job_library
