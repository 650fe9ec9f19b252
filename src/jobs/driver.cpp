#include "jobs/driver.hpp"

#include "optimize/batch_size/profile_book.hpp"
#include "optimize/cost/energy_time_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zeus::jobs {

namespace {

// How often the cost is checked if no epoch ends.
constexpr Seconds between_looks{2};
constexpr Seconds between_progress_records{5};

optimize::RecurrenceMachine::Terms terms_of(const records::JobDefinition& definition) {
  return {.target = definition.target,
          .max_epochs = definition.max_epochs,
          .default_batch_size = definition.default_batch_size};
}

// What is on record of a training. A suspension is not charged to it: its time is known, but its energy cannot be told
// from the training's.
Try::Taken without_suspension(Try::Taken taken, const Try::State& state) {
  if (state.stood_still > Seconds{}) {
    taken.time -= std::min(state.stood_still, taken.time);
    taken.gpus.clear();
  }
  return taken;
}

}  // namespace

Driver::Driver(std::unique_ptr<RecurrenceLink> recurrence, const records::JobDevice& device, Try& training,
               const DriverOptions& options, Clock& clock, Tell tell, StoreFailed store_failed)
    : recurrence_{std::move(recurrence)},
      device_{device},
      training_{training},
      options_{options},
      clock_{clock},
      tell_{std::move(tell)},
      store_failed_{std::move(store_failed)},
      machine_{terms_of(recurrence_->definition())},
      to_do_{Machine::Ask{}},
      looked_{clock.now()} {
}

DriverEnd Driver::run() {
  while (!advance()) {
  }
  return *end_;
}

std::optional<DriverEnd> Driver::advance() {
  unanswered_ = false;
  carry_out_all();
  if (then_) {
    go_on_to_the_end();
  } else if (!end_ && !waits_to_start()) {
    go_on();
  }
  return end_;
}

// Whether the next action begins a try (a start, or a question asked while no training runs), or ends the recurrence,
// which waits until everything is on record: a user's loop saves its model first.
bool Driver::waits_to_start() const {
  if (!options_.starts_when_told || may_start_ || then_ || to_do_.empty()) {
    return false;
  }
  return std::holds_alternative<Machine::Start>(to_do_.front()) ||
         std::holds_alternative<Machine::Done>(to_do_.front()) ||
         (std::holds_alternative<Machine::Ask>(to_do_.front()) && !machine_.has_training());
}

void Driver::carry_out_all() {
  while (has_more_to_do()) {
    const Machine::Action action = std::move(to_do_.front());
    to_do_.pop_front();
    std::visit([this](const auto& one) { carry_out(one); }, action);
  }
}

void Driver::keep(const std::function<void(RecurrenceLink&)>& body) {
  if (!recorded_) {
    return;
  }
  try {
    body(*recurrence_);
  } catch (const Error& error) {
    store_failed_(error);
    recorded_ = false;
    recurrence_->let_go();
  }
}

void Driver::feed(const Machine::Event& event) {
  std::ranges::move(machine_.on(event), std::back_inserter(to_do_));
}

// Passes the training's events to the machine, once it knows what the training is for.
void Driver::go_on() {
  std::ranges::move(training_.go_on(), std::back_inserter(unheard_));
  if (unanswered_) {
    beat();
    return;
  }
  const std::vector<Try::Event> events = std::exchange(unheard_, {});
  const Try::State state = training_.state();
  just_started_ = false;
  if (state.stood_still > Seconds{} && !std::exchange(told_of_standstill_, true)) {
    feed(Machine::StoodStill{});
  }
  if (state.disturbed) {
    epochs_.disturb();
  }
  for (const Try::Event& event : events) {
    if (std::holds_alternative<Try::StepsSeen>(event)) {
      epochs_.steps_seen(training_.taken_so_far());
    }
  }
  // A target that was reached counts even if the epoch that ended with it was the last or one too many.
  for (const Try::Event& event : events) {
    if (const auto* metric = std::get_if<Try::MetricSeen>(&event)) {
      feed(Machine::MetricSeen{.value = metric->value});
    }
  }
  // The measured costs of limits must be known before the machine judges whether to run another epoch.
  if (machine_.is_trying()) {
    note_limits(state);
    carry_out_all();
  }
  for (const Try::Event& event : events) {
    // Epochs reported together with the end cannot end the training any more.
    if (const auto* epoch = std::get_if<Try::EpochOver>(&event); epoch != nullptr && !state.exit_code) {
      note_epoch(epoch->epochs, training_.state());
    }
  }
  if (to_do_.empty() && machine_.watches_cost() && clock_.now() - looked_ >= between_looks && !state.exit_code) {
    feed(Machine::CostSeen{.cost = cost_so_far()});
  }
  if (to_do_.empty() && state.exit_code) {
    feed(ended(state));
  }
  note_progress();
  note_limits(state);
  beat();
}

void Driver::note_epoch(int epochs, const Try::State& state) {
  const int batch_size = machine_.batch_size();
  const Try::Taken taken = training_.taken_so_far();
  looked_ = clock_.now();
  epochs_.epochs_over(epochs, taken, in_force(state));
  if (state.disturbed) {
    epochs_.disturb();
  }
  feed(Machine::EpochOver{.epochs = epochs, .cost = cost_of(taken), .next = next_epoch(batch_size, in_force(state))});
  tell_(EpochTrained{.batch_size = batch_size,
                     .epoch = epochs,
                     .most = step_ ? std::optional{step_->event.plan.max_epochs} : std::nullopt,
                     .metric = state.metric});
}

void Driver::note_limits(const Try::State& state) {
  if (!to_do_.empty() || !machine_.wants_limits() || state.measuring) {
    return;
  }
  const bool any = !training_.measured().empty();
  if (any || !state.left_alone.empty()) {
    feed(Machine::LimitsMeasured{.any = any, .left_alone = !state.left_alone.empty()});
  }
}

Joules Driver::cost_so_far() {
  const Try::Taken taken = training_.taken_so_far();
  looked_ = clock_.now();
  return cost_of(taken);
}

Joules Driver::cost_of(Joules energy, Seconds time) const {
  const optimize::JobSpec& spec = recurrence_->spec();
  return optimize::EnergyTimeCost{spec.eta, spec.max_power}.of(energy, time);
}

std::optional<Joules> Driver::next_epoch(int batch_size, std::optional<Watts> limit) const {
  if (!options_.foresees_epochs || !limit) {
    return std::nullopt;
  }
  const std::vector<records::LimitProfile> known = recurrence_->limits(batch_size);
  const auto held = std::ranges::find(known, *limit, &records::LimitProfile::limit);
  return held == known.end() ? std::nullopt
                             : std::optional{cost_of(held->average_power * held->epoch_time, held->epoch_time)};
}

std::optional<Watts> Driver::in_force(const Try::State& state) const {
  return options_.sets_limits ? state.limit : device_.power_limits.front();
}

std::vector<Watts> Driver::not_measured(int batch_size) const {
  std::vector<Watts> missing = device_.power_limits;
  if (recorded_) {
    for (const records::LimitProfile& known : recurrence_->limits(batch_size)) {
      std::erase(missing, known.limit);
    }
  }
  return missing;
}

std::optional<Watts> Driver::best_limit(int batch_size) const {
  const std::vector<records::LimitProfile> known = recurrence_->limits(batch_size);
  if (!recorded_ || known.empty()) {
    return std::nullopt;
  }
  return optimize::best_limit(recurrence_->spec(), known);
}

// Only a crash needs to know whether this batch size, or another one, has ever worked.
Driver::Machine::Ended Driver::ended(const Try::State& state) {
  Machine::Ended ended{.crashed = *state.exit_code != 0, .interrupted = state.interrupted};
  if (ended.crashed && !ended.interrupted) {
    keep([&](RecurrenceLink&) {
      const RecurrenceLink::Worked worked = recurrence_->worked(machine_.batch_size());
      ended.has_worked = worked.here;
      ended.others_have_worked = worked.elsewhere;
    });
  }
  return ended;
}

void Driver::note_progress() {
  const Instant now = clock_.now();
  if (!step_ || now - progress_recorded_ < between_progress_records) {
    return;
  }
  const Try::State state = training_.state();
  if (state.epochs == epochs_recorded_) {
    return;
  }
  epochs_recorded_ = state.epochs;
  progress_recorded_ = now;
  const Try::Taken taken = without_suspension(training_.taken_so_far(), state);
  keep([&](RecurrenceLink& recurrence) {
    recurrence.epochs({.epochs = state.epochs, .metric = state.metric, .gpus = taken.gpus, .time = taken.time});
  });
}

void Driver::decided(const records::ProfileAsked& asked) {
  std::uint64_t seed = 0;
  keep([&](RecurrenceLink&) { seed = recurrence_->seed_of_next_try(); });
  feed(Machine::ProfileWanted{.asked = asked, .seed = seed});
}

void Driver::decided(const records::TryStarted& step) {
  const records::TryPlan& plan = step.event.plan;
  const bool under_way = machine_.has_training() && machine_.batch_size() == plan.batch_size;
  step_ = step;
  epochs_recorded_ = 0;
  progress_recorded_ = clock_.now();
  feed(Machine::TryWanted{.plan = plan,
                          .not_measured = not_measured(plan.batch_size),
                          .seed = step.seed,
                          .cost = under_way ? cost_so_far() : Joules{},
                          .next = next_epoch(plan.batch_size, plan.limit)});
}

// Other recurrences may have missed meanwhile, so that the training whose limits were being measured is useless.
void Driver::decided(const records::FailedTries& /*failed*/) {
  if (!machine_.has_training()) {
    end_ = DriverEnd::missed;
    return;
  }
  training_.stop();
  wait_for_end([this] {
    tell_(TrainingOver{});
    end_ = DriverEnd::missed;
  });
}

// A training is not held up by a server that is away; only its end waits for the answer.
template <typename Question, typename Ask>
void Driver::ask(const Question& question, const Ask& ask) {
  const Wait wait = machine_.has_training() && !training_.state().exit_code ? Wait::no : Wait::yes;
  std::optional<Step> step;
  keep([&](RecurrenceLink& recurrence) { step = ask(recurrence, wait); });
  if (!step && recorded_ && wait == Wait::no) {
    to_do_.emplace_front(question);
    unanswered_ = true;
    epochs_.disturb();
    return;
  }
  answered(step);
}

void Driver::carry_out(const Machine::Ask& question) {
  ask(question, [](RecurrenceLink& recurrence, Wait wait) { return recurrence.next(wait); });
}

void Driver::carry_out(const Machine::Claim& question) {
  ask(question, [this](RecurrenceLink& recurrence, Wait wait) -> std::optional<Step> {
    return recurrence.claim(machine_.batch_size(), wait);
  });
}

// Without a step the store has failed.
void Driver::answered(const std::optional<Step>& step) {
  if (step) {
    std::visit(
        [this](const auto& one) {
          tell_(one);
          decided(one);
        },
        *step);
  } else if (machine_.has_training()) {
    // Nothing can be decided any more, but the training's model is still wanted.
    wait_for_end([this] {
      tell_(TrainingOver{.seen_through = true});
      end_ = DriverEnd::given_up;
    });
  } else {
    end_ = DriverEnd::unrecorded;
  }
}

void Driver::carry_out(const Machine::Start& start) {
  told_of_standstill_ = false;
  just_started_ = true;
  may_start_ = false;
  epochs_ = {};
  unheard_.clear();  // they were of the training before
  training_.start(start.batch_size, start.seed);
}

void Driver::carry_out(const Machine::Abandon& abandon) {
  training_.stop();
  wait_for_end([this, batch_size = abandon.batch_size] {
    const Try::Taken taken = without_suspension(training_.close(), training_.state());
    keep([&](RecurrenceLink& recurrence) {
      recurrence.profiled({.batch_size = batch_size, .limits = {}, .charged = taken.gpus, .time = taken.time});
    });
  });
}

void Driver::carry_out(const Machine::Measure& measure) {
  Try::Known known{.run_time = recurrence_->run_time(machine_.batch_size()), .reference = {}};
  // Without a target there may be no epochs; limits are then given per training, and no two trainings are alike.
  // Besides, a single limit would stay in force after it was measured.
  const bool alike = recurrence_->definition().target && measure.limits.size() > 1;
  if (const std::vector<records::LimitProfile> limits = recurrence_->limits(machine_.batch_size());
      !alike && !limits.empty()) {
    known.reference = limits.back();
  }
  training_.measure(measure.limits, known);
  if (training_.state().disturbed || !just_started_) {
    epochs_.disturb();
  }
}

void Driver::carry_out(const Machine::Hold& hold) {
  if (!options_.sets_limits) {
    training_.leave();
    return;
  }
  const std::optional<Watts> held = training_.state().limit;
  const std::optional<Watts> best = hold.limit ? hold.limit : best_limit(machine_.batch_size());
  const Watts limit = best ? *best : held.value_or(device_.power_limits.back());
  if (limit != held) {
    if (!just_started_) {
      epochs_.disturb();
    }
    training_.hold(limit);
  }
}

void Driver::carry_out(const Machine::RecordLimits& /*record*/) {
  const records::LimitsMeasured measured{
      .batch_size = machine_.batch_size(), .limits = training_.measured(), .charged = {}, .time = {}};
  if (measured.limits.empty()) {
    return;
  }
  keep([&](RecurrenceLink& recurrence) { recurrence.profiled(measured); });
  tell_(measured);
}

records::TryResult Driver::finished(records::TryOutcome outcome, const Try::Taken& taken) {
  const Try::State state = training_.state();
  std::optional<Watts> held = in_force(state);
  held = held ? held : state.found;
  if (records::reached(outcome)) {
    epochs_.training_over(taken, held);
    if (!recurrence_->definition().target) {
      epochs_.ended(state.epochs, taken);
    }
  }
  const Try::Taken own = without_suspension(taken, state);
  records::TryResult finished{
      .outcome = outcome,
      .progress = {.epochs = state.epochs, .metric = state.metric, .gpus = own.gpus, .time = own.time},
      .limit = held || !state.left_alone.empty() ? held : step_->event.plan.limit,
      .exit_code = state.exit_code,
      .whole_epochs = epochs_.whole()};
  if (!taken.unknown.empty()) {
    finished.progress.gpus.clear();
    finished.left_out = fmt::format("its energy is unknown: {}", taken.unknown);
  } else if (state.stood_still > Seconds{}) {
    finished.left_out = "it was suspended for a while, for example by Ctrl-Z";
  } else if (options_.sets_limits && !state.left_alone.empty()) {
    finished.left_out = state.left_alone;
  }
  if (finished.left_out) {
    finished.whole_epochs.reset();
  }
  if (finished.whole_epochs) {
    finished.whole_epochs->beside_steps = state.beside_steps;
  }
  return finished;
}

void Driver::carry_out(const Machine::Conclude& conclude) {
  const Try::Taken taken = training_.close();
  const records::TryResult done = finished(conclude.outcome, taken);
  keep([&](RecurrenceLink& recurrence) { recurrence.finished(done); });
  const std::optional<Energy> energy = taken.sum();
  tell_(TryJudged{.step = *step_, .result = done, .energy = energy ? std::optional{energy->value} : std::nullopt});
  step_.reset();
  reached_ = reached(conclude.outcome);
}

void Driver::wait_for_end(std::function<void()> then) {
  then_ = std::move(then);
  end_of_wait();
}

void Driver::go_on_to_the_end() {
  training_.go_on();
  beat();
  end_of_wait();
}

void Driver::end_of_wait() {
  if (training_.state().exit_code) {
    training_.leave();
    std::exchange(then_, {})();
  }
}

void Driver::beat() {
  keep([](RecurrenceLink& recurrence) {
    if (!recurrence.over()) {
      recurrence.beat();
    }
  });
}

void Driver::carry_out(const Machine::Stop& /*stop*/) {
  training_.stop();
  wait_for_end([this] {
    tell_(TrainingOver{});
    feed(Machine::Stopped{.interrupted = training_.state().interrupted});
  });
}

void Driver::carry_out(const Machine::SeeThrough& see_through) {
  if (see_through.reached && options_.stops_at_target) {
    training_.stop();
  }
  wait_for_end([this] { tell_(TrainingOver{.seen_through = true}); });
}

void Driver::carry_out(const Machine::GiveUp& give_up) {
  keep([&](RecurrenceLink& recurrence) {
    if (!recurrence.over()) {
      recurrence.give_up(reason(give_up.why));
    }
  });
}

std::string Driver::reason(Machine::Why why) {
  const Try::State state = training_.state();
  if (why == Machine::Why::interrupted || state.interrupted) {
    return "it was interrupted";
  }
  const int exit_code = state.exit_code.value_or(0);
  return exit_code == 0 ? "the command ended without reporting a metric"
                        : fmt::format("the command ended with exit code {}", exit_code);
}

void Driver::carry_out(const Machine::Done& /*done*/) {
  keep([](RecurrenceLink& recurrence) { recurrence.settle(); });
  end_ = reached_ ? DriverEnd::reached : DriverEnd::given_up;
}

}  // namespace zeus::jobs
