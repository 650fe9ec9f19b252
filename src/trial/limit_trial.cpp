#include "trial/limit_trial.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

namespace zeus::trial {

namespace {

// An event of progress may be seen some time after it happened, later still on a busy machine. So a limit is measured
// over a time that is long in comparison, whatever the steps: over this many events, or fewer if steps take longer.
constexpr std::uint32_t words_of_a_slice = 4;
// The most events that search() takes for a limit, settling included: the default of AdaptiveProfiling.
constexpr double words_of_a_limit = 30;
// And before the first limit, fewer if they are slow.
constexpr double words_of_warm_up = 10;
// The fewest events in an epoch between which a limit can be measured: those at its beginning and end, those in which
// the GPU settles, and of search() those of a slice.
constexpr double events_of_a_measurement = 3;
constexpr double events_of_a_search = 9;
constexpr std::uint64_t events_of_a_count = 9;
constexpr std::string_view watched_window = "zeus.trial.watched";

std::uint32_t words_for(Seconds time, Seconds word) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(time / word), 1.0, static_cast<double>(words_of_a_slice)));
}

}  // namespace

void LimitTrial::begin() {
  leave();
  gpus_.begin();
  first_step_.reset();
  epoch_began_.reset();
  events_in_epoch_ = 0;
  events_in_count_ = 0;
  set_any_ = false;
  unmeasured_ = 0;
}

// The GPUs stay as they are.
void LimitTrial::drop_task() {
  if (measuring() && task_ != Task::search) {
    unmeasured_ = limits_.size();
  }
  close_window();
  measured_.reset();
  task_ = Task::nothing;
  under_way_ = false;
  start_over();
}

void LimitTrial::leave() {
  std::optional<PowerProfile> measured = std::move(measured_);
  const bool compared = under_way_ && compares();
  const bool changed = under_way_;
  drop_task();
  if (changed) {
    gpus_.leave();
  }
  measured_ = compared ? std::optional{gpus_.compared()} : std::move(measured);
}

void LimitTrial::start_over() {
  unit_ = Unit::unknown;
  words_ = 0;
  held_back_ = 0;
  between_epochs_ = false;
  opened_within_ = false;
  seen_ = {};
}

void LimitTrial::begin_again() {
  close_window();
  if (compares() && std::exchange(under_way_, false)) {
    gpus_.leave();
  }
  start_over();
}

void LimitTrial::hold(Watts limit) {
  drop_task();
  task_ = Task::hold;
  under_way_ = true;
  gpus_.hold(limit);
  note_setting();
}

void LimitTrial::measure(std::vector<Watts> limits, Seconds each) {
  leave();
  measured_.reset();
  task_ = Task::measure;
  limits_ = std::move(limits);
  each_ = each;
}

void LimitTrial::watch(Watts limit, Seconds time, bool set) {
  if (set) {
    hold(limit);
  } else {
    leave();
    measured_.reset();
  }
  task_ = Task::watch;
  limits_ = {limit};
  each_ = time;
}

void LimitTrial::search(Seconds each) {
  leave();
  measured_.reset();
  task_ = Task::search;
  each_ = each;
}

Seconds LimitTrial::word() const {
  return std::max(each_ / (task_ == Task::search ? words_of_a_limit : words_of_a_slice), shortest_event);
}

void LimitTrial::begin_comparing() {
  const Seconds seen = std::max(usual_word_, word());
  Slices slices;
  slices.warm_up =
      static_cast<std::uint32_t>(std::clamp(std::ceil(words_of_warm_up * (word() / seen)), 1.0, words_of_warm_up));
  if (task_ == Task::measure) {
    slices = {.limits = limits_, .lengths = Slices::Lengths{.settle = 1, .measure = words_for(each_, seen), .wait = 1}};
  }
  if (unit_ == Unit::epoch) {
    // An epoch is the only step there is: the shortest time in which an amount of work is known.
    const std::uint32_t measure = words_for(task_ == Task::measure ? each_ : shortest_slice, seen);
    const bool settles = seen * static_cast<double>(measure) >= needs_no_settling;
    slices.lengths = {.settle = settles ? 0U : 1U, .measure = measure, .wait = 0};
  }
  under_way_ = true;
  gpus_.compare(slices);
  note_setting();
}

// A limit that is refused leaves the GPUs as they were found.
void LimitTrial::note_setting() {
  set_any_ = set_any_ || gpus_.left_alone().empty();
}

// The first steps of a training are unlike the rest: libraries set themselves up and try out what is fastest.
bool LimitTrial::warming_up(Instant now) const {
  if (unit_ != Unit::step || (task_ != Task::measure && task_ != Task::watch)) {
    return false;
  }
  return now - *first_step_ < each_;
}

void LimitTrial::pass_on(std::uint64_t steps) {
  const Instant at = clock_.now();
  first_step_ = first_step_.value_or(at);
  if (warming_up(at)) {
    return;
  }
  if (std::exchange(between_epochs_, false)) {
    // The first event of an epoch contains evaluation, and may stand for steps of the epoch before.
    if (under_way_) {
      gpus_.begin_epoch();
      gpus_.progress(0);
    } else {
      begin_comparing();
    }
    last_word_ = clock_.now();
    return;
  }
  held_back_ += steps;
  // Epochs that are seen at the same time count as one event, too.
  if (at - last_word_ < (unit_ == Unit::step ? word() : shortest_event)) {
    return;
  }
  if (words_++ == 0) {
    first_word_ = at;
  }
  const std::uint64_t over = std::exchange(held_back_, 0);
  if (under_way_) {
    gpus_.progress(over);
  }
  if (task_ == Task::watch) {
    look_on(over);
  } else if (!under_way_ && words_ > 1 && compares()) {
    // The time between two events is known from the second event on.
    usual_word_ = at - first_word_;
    begin_comparing();
    opened_within_ = true;
  }
  // Opening may take long; the next event is due one usual interval after it.
  last_word_ = clock_.now();
}

// One window from event to event, so that the time between epochs is in none of them.
void LimitTrial::look_on(std::uint64_t steps) {
  if (measured_ || !gpus_.left_alone().empty()) {
    return;
  }
  if (std::exchange(window_open_, true)) {
    const jobs::Try::Taken taken = gpus_.meter().end(watched_window);
    if (const std::optional<Energy> all = taken.sum()) {
      seen_.steps += steps;
      seen_.step_time += taken.time;
      seen_.step_energy.value += all->value;
      seen_.step_energy.uncertainty += all->uncertainty;
    }
  }
  if (seen_.step_time < each_) {
    gpus_.meter().begin(watched_window);
    return;
  }
  window_open_ = false;
  gpus_.confirm();
  if (!gpus_.left_alone().empty()) {
    return;  // it may have been measured under another limit
  }
  const double part = 1.0 / static_cast<double>(seen_.steps);
  seen_.setting = {.limit = limits_.front(), .clock = {}};
  seen_.step_time *= part;
  seen_.step_energy.value *= part;
  seen_.step_energy.uncertainty *= part;
  measured_ = PowerProfile{.measurements = {seen_}};
}

void LimitTrial::take(const Progress& progress) {
  if (const auto* steps = std::get_if<StepsDone>(&progress)) {
    if (steps->changed) {
      forget();
    }
    if (steps->timed) {
      take_steps(*steps);
    }
  } else if (const auto* epochs = std::get_if<EpochsDone>(&progress)) {
    take_epochs(epochs->count);
  }
}

void LimitTrial::take_steps(const StepsDone& steps) {
  const Instant at = clock_.now();
  if (steps.begins || events_in_count_ == 0) {
    begin_count(at);
  }
  if (events_in_epoch_ == 0 || at - last_event_ >= shortest_event) {
    ++events_in_epoch_;
    ++events_in_count_;
    last_event_ = at;
  }
  if (task_ == Task::nothing) {
    return;
  }
  unit_ = unit_ == Unit::unknown ? Unit::step : unit_;
  if (unit_ == Unit::step) {
    pass_on(steps.count);
  }
}

// What lies between two counts is no step, whether or not epochs are seen. Counts that are too short for a slice are
// measured together with what lies between them.
void LimitTrial::begin_count(Instant now) {
  const Seconds slice = task_ == Task::search ? shortest_slice : each_;
  if (unit_ == Unit::step && task_ != Task::hold && events_in_count_ >= events_of_a_count &&
      now - count_began_ >= slice * epoch_for_a_slice) {
    end_epoch();
  }
  events_in_count_ = 0;
  count_began_ = now;
}

void LimitTrial::take_epochs(std::uint64_t count) {
  const double events = static_cast<double>(std::exchange(events_in_epoch_, 0)) / static_cast<double>(count);
  if (task_ == Task::nothing) {
    return;
  }
  unit_ = unit_ == Unit::unknown ? Unit::epoch : unit_;
  if (unit_ == Unit::step) {
    fit_slices(count, events);
  }
  if (unit_ == Unit::epoch) {
    pass_on(count);
  } else {
    end_epoch();
  }
}

// A slice that does not fit into an epoch would never end. Shorter slices are measured instead, or whole epochs where
// these are too short for slices, or where too few steps are seen in them.
void LimitTrial::fit_slices(std::uint64_t epochs, double events) {
  const Instant now = clock_.now();
  const Instant began = std::exchange(epoch_began_, now).value_or(first_step_.value_or(now));
  if (!measuring()) {
    return;
  }
  const Seconds epoch = (now - began) / static_cast<double>(epochs);
  const bool too_few = events < (task_ == Task::search ? events_of_a_search : events_of_a_measurement);
  const bool too_short = task_ != Task::watch && epoch < shortest_slice * epoch_for_a_slice;
  if (too_few || too_short) {
    begin_again();
    unit_ = Unit::epoch;
  } else if (task_ == Task::measure && epoch < each_ * epoch_for_a_slice) {
    begin_again();
    unit_ = Unit::step;
    each_ = epoch / epoch_for_a_slice;
  }
}

// Until the next step comes evaluation and the like, which belongs to no step.
void LimitTrial::end_epoch() {
  held_back_ = 0;
  if (under_way_ && !between_epochs_) {
    gpus_.end_epoch();
    between_epochs_ = gpus_.comparing();
    // A slice is cut to fit the events of the epoch before. The rest of an epoch in which none fitted is no measure.
    if (std::exchange(opened_within_, false) && task_ == Task::measure && gpus_.compared().measurements.empty()) {
      under_way_ = false;
      gpus_.leave();
    } else if (!between_epochs_) {
      gpus_.begin_epoch();
    }
  }
  close_window();
}

void LimitTrial::close_window() {
  if (std::exchange(window_open_, false)) {
    gpus_.meter().cancel(watched_window);
  }
}

void LimitTrial::measure_again() {
  if (!measuring()) {
    return;
  }
  begin_again();
}

// What was measured, or is being measured, was of other work than the training's.
void LimitTrial::forget() {
  if ((compares() || task_ == Task::watch) && gpus_.left_alone().empty()) {
    measured_.reset();
    begin_again();
  }
}

void LimitTrial::stay() {
  if (under_way_ && !gpus_.comparing()) {
    gpus_.progress(0);
  }
}

bool LimitTrial::measuring() const {
  if (!gpus_.left_alone().empty()) {
    return false;
  }
  if (task_ == Task::watch) {
    return !measured_;
  }
  return compares() && (!under_way_ || gpus_.comparing());
}

std::vector<records::LimitProfile> LimitTrial::measured(const std::optional<EpochShape>& shape) const {
  const std::optional<PowerProfile> known = under_way_ && compares() ? std::optional{gpus_.compared()} : measured_;
  if (!known || (unit_ != Unit::epoch && !shape)) {
    return {};
  }
  return limit_profiles(*known, unit_ == Unit::epoch ? std::nullopt : shape);
}

}  // namespace zeus::trial
