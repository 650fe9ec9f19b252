#include "run/power_tuning.hpp"

#include "trial/limit_slices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::run {

namespace {

// We see an event of progress some time after it happened, later still on a busy machine. So a limit is measured over a
// time that is long in comparison, whatever the steps: over this many events, or fewer if steps take longer.
constexpr std::uint32_t words_of_a_slice = 4;
// The most events that optimize() takes for a limit, settling included: the default of AdaptiveProfiling.
constexpr double words_of_a_limit = 30;
constexpr const char* watched_window = "zeus.run.watched";

std::uint32_t words_for(Seconds time, Seconds word) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(time / word), 1.0, static_cast<double>(words_of_a_slice)));
}

}  // namespace

PowerTuning::PowerTuning(TrainingGpus& gpus, TrainingOptions base, Clock& clock)
    : gpus_{gpus}, base_{std::move(base)}, clock_{clock} {
}

void PowerTuning::hear(const TrainingEvent& event) {
  if (const auto* applied = std::get_if<SettingApplied>(&event)) {
    chosen_ = applied->optimum ? std::optional{applied->setting.limit} : std::nullopt;
  } else if (const auto* alone = std::get_if<Unoptimized>(&event)) {
    left_alone_ = alone->why;
    chosen_.reset();
  } else if (const auto* done = std::get_if<ProfilingDone>(&event); done != nullptr) {
    measured_ = done->profile;
  }
}

void PowerTuning::open(TrainingOptions options) {
  options.listener = [this](const TrainingEvent& event) { hear(event); };
  session_ = gpus_.open(options);
  set_any_ = true;
}

void PowerTuning::leave() {
  if (measuring() && task_ != Task::optimize) {
    unmeasured_ = limits_.size();
  }
  if (session_) {
    session_->finish();
    if (task_ == Task::measure || task_ == Task::optimize) {
      measured_ = session_->profile();
    }
    if (task_ == Task::optimize) {
      result_ = session_->result();
    }
    session_.reset();
  }
  if (std::exchange(window_open_, false)) {
    gpus_.monitor().cancel(watched_window);
  }
  task_ = Task::nothing;
  chosen_.reset();
  begin_again();
}

void PowerTuning::begin_again() {
  if (task_ == Task::measure || task_ == Task::optimize) {
    session_.reset();
  }
  unit_ = Unit::unknown;
  words_ = 0;
  held_back_ = 0;
  between_epochs_ = false;
  steps_in_epoch_ = 0;
  seen_ = {};
}

void PowerTuning::hold(Watts limit) {
  leave();
  measured_.reset();
  task_ = Task::hold;
  open(base_);
  session_->hold({.limit = limit, .clock = {}});
  session_->begin_epoch();
}

void PowerTuning::measure(std::vector<Watts> limits, Seconds each) {
  leave();
  measured_.reset();
  task_ = Task::measure;
  limits_ = std::move(limits);
  each_ = each;
}

void PowerTuning::watch(Watts limit, Seconds time, bool set) {
  if (set) {
    hold(limit);
  } else {
    measure({limit}, time);
  }
  limits_ = {limit};
  each_ = time;
  task_ = Task::watch;
  seen_ = {};
}

void PowerTuning::optimize(Seconds each) {
  leave();
  measured_.reset();
  task_ = Task::optimize;
  each_ = each;
}

Seconds PowerTuning::word() const {
  return std::max(each_ / (task_ == Task::optimize ? words_of_a_limit : words_of_a_slice), trial::shortest_event);
}

void PowerTuning::begin_measuring() {
  TrainingOptions options = base_;
  options.batch_size.reset();
  const Seconds seen = std::max(last_word_ - first_word_, word());
  if (task_ == Task::measure) {
    options.profiling.limits = limits_;
    options.profiling.try_clocks = false;
    options.profiling.drift_tolerance = 0;
    options.profiling.plan = SweepProfiling{.settle = 1, .measure = words_for(each_, seen)};
  }
  if (unit_ == Unit::epoch) {
    // An epoch is the only step there is: the shortest time in which an amount of work is known.
    const std::uint32_t measure = words_for(task_ == Task::measure ? each_ : trial::shortest_slice, seen);
    const bool settles = seen * static_cast<double>(measure) >= trial::needs_no_settling;
    options.profiling.plan = SweepProfiling{.settle = settles ? 0U : 1U, .measure = measure};
    options.profiling.wait_steps = 0;
  }
  open(options);
  session_->begin_epoch();
  session_->progress(0);
}

// The first steps of a training are unlike the rest: libraries set themselves up and try out what is fastest.
bool PowerTuning::warming_up(Instant now) const {
  if (unit_ != Unit::step || (task_ != Task::measure && task_ != Task::watch)) {
    return false;
  }
  return now - *first_step_ < each_;
}

void PowerTuning::pass_on(std::uint64_t steps) {
  const Instant at = clock_.now();
  first_step_ = first_step_.value_or(at);
  if (warming_up(at)) {
    return;
  }
  if (std::exchange(between_epochs_, false)) {
    // The first event of an epoch contains evaluation, and may stand for steps of the epoch before.
    session_->begin_epoch();
    session_->progress(0);
    last_word_ = clock_.now();
    return;
  }
  held_back_ += steps;
  // Epochs that are seen at the same time count as one event, too.
  if (at - last_word_ < (unit_ == Unit::step ? word() : trial::shortest_event)) {
    return;
  }
  if (words_++ == 0) {
    first_word_ = at;
  }
  const std::uint64_t over = std::exchange(held_back_, 0);
  if (session_) {
    session_->progress(over);
  }
  if (task_ == Task::watch) {
    look_on(over);
  } else if (!session_ && words_ > 1 && (task_ == Task::measure || task_ == Task::optimize)) {
    // The time between two events is known from the second event on.
    last_word_ = at;
    begin_measuring();
  }
  // Opening may take long; the next event is due one usual interval after it.
  last_word_ = clock_.now();
}

// One window from event to event, so that the time between epochs is in none of them.
void PowerTuning::look_on(std::uint64_t steps) {
  if (measured_) {
    return;
  }
  if (std::exchange(window_open_, true)) {
    const Measurement measurement = gpus_.monitor().end(watched_window);
    if (const MeasuredEnergy all = measurement.total_gpu_energy(); all.energy) {
      seen_.steps += steps;
      seen_.step_time += measurement.time();
      seen_.step_energy.value += all.energy->value;
      seen_.step_energy.uncertainty += all.energy->uncertainty;
    }
  }
  if (seen_.step_time < each_) {
    gpus_.monitor().begin(watched_window, true);
    return;
  }
  window_open_ = false;
  const double part = 1.0 / static_cast<double>(seen_.steps);
  seen_.setting = {.limit = limits_.front(), .clock = {}};
  seen_.step_time *= part;
  seen_.step_energy.value *= part;
  seen_.step_energy.uncertainty *= part;
  measured_ = PowerProfile{.measurements = {seen_}};
}

void PowerTuning::take(const Progress& progress) {
  if (task_ == Task::nothing) {
    return;
  }
  if (const auto* steps = std::get_if<StepsDone>(&progress)) {
    if (!steps->timed) {
      return;
    }
    unit_ = unit_ == Unit::unknown ? Unit::step : unit_;
    steps_in_epoch_ += steps->count;
    if (unit_ == Unit::step) {
      pass_on(steps->count);
    }
  } else if (const auto* epochs = std::get_if<EpochsDone>(&progress)) {
    unit_ = unit_ == Unit::unknown ? Unit::epoch : unit_;
    if (unit_ == Unit::step && std::exchange(steps_in_epoch_, 0) == 0 && measuring()) {
      // Steps are no longer seen: begin again with the progress that is.
      begin_again();
      unit_ = Unit::epoch;
    }
    if (unit_ == Unit::step) {
      fit_slices(epochs->count);
    }
    if (unit_ == Unit::epoch) {
      pass_on(epochs->count);
    } else {
      end_epoch();
    }
  }
}

// A slice longer than an epoch would never end. Shorter slices are measured instead, or whole epochs where these are
// too short for slices.
void PowerTuning::fit_slices(std::uint64_t epochs) {
  const Instant now = clock_.now();
  const Instant began = std::exchange(epoch_began_, now).value_or(first_step_.value_or(now));
  const Seconds epoch = (now - began) / static_cast<double>(epochs);
  const Seconds slice = task_ == Task::measure ? each_ : trial::shortest_slice;
  if (task_ == Task::watch || !measuring() || epoch >= slice * trial::epoch_for_a_slice) {
    return;
  }
  begin_again();
  if (epoch < trial::shortest_slice * trial::epoch_for_a_slice) {
    unit_ = Unit::epoch;
  } else {
    unit_ = Unit::step;
    each_ = epoch / trial::epoch_for_a_slice;
  }
}

// Until the next step comes evaluation and the like, which belongs to no step.
void PowerTuning::end_epoch() {
  held_back_ = 0;
  if (session_ && !between_epochs_) {
    session_->end_epoch();
    between_epochs_ = session_->profiling();
    if (!between_epochs_) {
      session_->begin_epoch();
    }
  }
  if (std::exchange(window_open_, false)) {
    gpus_.monitor().cancel(watched_window);
  }
}

void PowerTuning::forget_what_is_measured() {
  if (!measuring()) {
    return;
  }
  if (std::exchange(window_open_, false)) {
    gpus_.monitor().cancel(watched_window);
  }
  begin_again();
}

void PowerTuning::stay() {
  if (session_ && !session_->profiling()) {
    session_->progress(0);
  }
}

bool PowerTuning::measuring() const {
  if (task_ == Task::watch) {
    return !measured_ && left_alone_.empty();
  }
  return (task_ == Task::measure || task_ == Task::optimize) && left_alone_.empty() &&
         (!session_ || session_->profiling());
}

std::vector<records::LimitProfile> PowerTuning::profiles(const TrainingProgress& progress) const {
  const bool by_session = session_ && task_ != Task::watch;
  const std::optional<PowerProfile> known = by_session ? std::optional{session_->profile()} : measured_;
  if (!known || (unit_ != Unit::epoch && !progress.steps_per_epoch())) {
    return {};
  }
  const trial::EpochShape epoch{.steps = static_cast<double>(progress.steps_per_epoch().value_or(0)),
                                .beside_steps = progress.beside_steps()};
  return trial::limit_profiles(*known, unit_ == Unit::epoch ? std::nullopt : std::optional{epoch});
}

}  // namespace zeus::run
