#include "run/job_run.hpp"

#include "base/amount_text.hpp"
#include "base/child_process.hpp"
#include "trial/job_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>
#include <variant>

namespace zeus::run {

namespace {

constexpr int target_missed = 1;

}  // namespace

JobRun::JobRun(const RunOptions& options, const Place& place, Messages& messages)
    : options_{options},
      place_{place},
      messages_{messages},
      gpus_{place, options.gpus},
      set_limits_{options.set_limits} {
}

JobRun::~JobRun() {
  messages_.set_between({});
}

void JobRun::make_training() {
  training_.emplace(options_, place_, gpus_, set_limits_);
  messages_.set_between([this](const Messages::Write& write) { training_->between_its_output(write); });
}

int JobRun::run() {
  began_ = place_.clock.now();
  record_.gpus = gpus_.listed();
  if (!options_.job.empty()) {
    record_.job = options_.job;
  }
  record_.exit_code = run_job();
  return record_.exit_code;
}

int JobRun::run_job() {
  if (gpus_.none()) {
    record_.unrecorded = "no GPU can be seen";
    record_.energy_unknown = record_.unrecorded;
    record_.no_training = record_.unrecorded;
    messages_.warn("no GPU can be seen, so nothing is optimized or recorded; `zeus doctor` says why");
    set_limits_ = false;
    make_training();
    return run_alone();
  }
  if (set_limits_ && options_.mode != TrainingMode::passive) {
    if (const std::optional<Error>& why_not = gpus_.why_not_settable(options_.power_limits)) {
      messages_.warn(fmt::format("power limits stay as they are: {}", why_not->what()));
      set_limits_ = false;
    } else if (gpus_.lessor_away()) {
      messages_.warn(
          fmt::format("power limits stay as they are until they can be set: {}", gpus_.lessor_away()->what()));
    }
  }
  device_ = gpus_.device(options_.power_limits, set_limits_);
  if (const std::size_t possible = set_limits_ ? gpus_.possible(options_.power_limits).size() : 0;
      device_.power_limits.size() < possible) {
    messages_.say(trial::policy_text(device_.power_limits, possible));
    options_.power_limits = device_.power_limits;
  }
  make_training();
  const bool observes = options_.mode != TrainingMode::optimize;
  record_.unrecorded =
      observes ? "an observing run neither reads the job's history nor adds to it" : "no job was named";
  return options_.job.empty() || observes ? run_alone() : run_recurrence();
}

void JobRun::complain() {
  // A command that failed had no chance to show progress.
  if (exit_code_ == 0 || training_->command().told_to_end()) {
    for (const std::string& text : silence_text(options_, training_->command().seen())) {
      messages_.warn(text);
    }
  }
  if (const std::optional<LimitsLost> lost = training_->limits_lost()) {
    messages_.say(limits_lost_text(*lost));
  }
  if (training_->progress().diverged()) {
    messages_.warn("the metric was NaN or infinite at times, which never reaches a target");
  }
}

int JobRun::run_alone() {
  training_->trial().start(options_.default_batch_size.value_or(0), options_.seed);
  if (set_limits_ || (options_.mode == TrainingMode::passive && !gpus_.none())) {
    training_->optimize();
  }
  while (!training_->command().exit_code()) {
    training_->trial().go_on();
  }
  training_->trial().leave();
  exit_code_ = *training_->command().exit_code();
  complain();
  if (const auto reason = training_->command().why_not_run()) {
    messages_.warn(*reason);
  } else if (!gpus_.none()) {
    const jobs::Try::Taken taken = training_->trial().close();
    const std::optional<TrainingResult>& result = training_->optimized();
    messages_.say(ended_text(exit_code_, result ? alone_text(of_the_command(*result, taken),
                                                             options_.max_slowdown.has_value(), options_.rates)
                                                : taken_text(taken, options_.rates)));
  }
  note_alone();
  return exit_code_;
}

void JobRun::note_alone() {
  record_.training = training_->optimized();
  record_.no_training = "its power limit was not chosen";
  if (gpus_.none()) {
    record_.time = place_.clock.now() - began_;
  } else {
    const jobs::Try::Taken taken = training_->trial().close();
    record_.time = taken.time;
    record_.take(taken.sum(), taken.unknown);
  }
}

// The user must correct a wrong definition or name before anything trains; a failing store, or a record that it
// refuses, matters only if the user requires a store.
void JobRun::train_unrecorded(const Error& why, bool opened) {
  const bool users = !opened && (why.kind() == ErrorKind::invalid_argument || why.kind() == ErrorKind::conflict);
  if (options_.needs_store || users) {
    throw;
  }
  record_.unrecorded = why.what();
  const std::string_view follows = is_interrupted() ? "the rest" : "the training goes on, and";
  messages_.warn(fmt::format("{}; {} is not recorded", why.what(), follows));
}

std::optional<int> JobRun::asked_to_end() {
  return training_ && training_->has_started() ? training_->command().asked_to_end() : std::nullopt;
}

std::unique_ptr<jobs::RecurrenceLink> JobRun::try_to_begin() {
  try {
    keeper_ = job_keeper(
        options_, gpus_, place_, [this] { return is_interrupted(); },
        [this](const std::string& line) { messages_.say(line); });
    if (set_limits_ && gpus_.lessor_away()) {
      go_by_the_jobs_device();
    }
    return begin(*keeper_, options_, device_);
  } catch (const Error& error) {
    train_unrecorded(error, false);
    return nullptr;
  }
}

void JobRun::go_by_the_jobs_device() {
  const std::optional<records::JobDevice> known =
      keeper_->has(options_.job) ? trial::device_as_known(device_, keeper_->view(options_.job).device) : std::nullopt;
  if (known) {
    device_ = *known;
    options_.power_limits = known->power_limits;
  } else {
    messages_.warn("this recurrence trains under the limit in force: its job does not know which limits may be set");
    set_limits_ = false;
    device_ = gpus_.device(options_.power_limits, false);
  }
  make_training();
}

int JobRun::run_recurrence() {
  std::unique_ptr<jobs::RecurrenceLink> recurrence = try_to_begin();
  if (recurrence == nullptr) {
    return run_alone();
  }
  record_.no_training = "it is a recurrence of a job, and its tries have the results";
  const std::uint64_t number = recurrence->number();
  if (const auto question = batch_size_question(options_); number == 1 && question) {
    messages_.warn(*question);
  }
  jobs::Driver driver{std::move(recurrence),
                      device_,
                      training_->trial(),
                      {.sets_limits = set_limits_, .stops_at_target = options_.stop_at_target},
                      place_.clock,
                      [this](const jobs::DriverEvent& event) { hear(event); },
                      [this](const Error& error) { train_unrecorded(error, true); }};
  const jobs::DriverEnd end = driver.run();
  if (end == jobs::DriverEnd::unrecorded) {
    // A user who ends a wait between two tries wants no other training.
    const std::optional<int> signal = asked_to_end();
    return signal ? 128 + *signal : run_alone();
  }
  const bool missed = end == jobs::DriverEnd::missed;
  if (driver.recorded()) {
    sum_up(number, !missed && (end == jobs::DriverEnd::reached || exit_code_ == 0));
  }
  if (!record_.recurrence) {
    record_.time = place_.clock.now() - began_;
    record_.energy_unknown = "energy that was not recorded is not added up";
  }
  // Ctrl-C after the command's end leaves the command's own exit code; other signals mean this process.
  if (const std::optional<int> signal = asked_to_end(); signal && !asked_while_it_ran_ && *signal != SIGINT) {
    return 128 + *signal;
  }
  return missed ? target_missed : exit_code_;
}

void JobRun::sum_up(std::uint64_t recurrence, bool say) {
  try {
    const records::JobView view = keeper_->view_of_recurrence(options_.job, recurrence);
    const records::RecurrenceView& one = view.recurrences.at(0);
    record_.recurrence = one;
    record_.tries = view.tries;
    record_.energy = one.energy;
    record_.uncertainty = one.uncertainty;
    record_.energy_unknown = one.energy_unknown;
    record_.time = one.time;
    if (say) {
      messages_.say(recurrence_text(view, one, options_.rates), has_saved(one) ? Ink::green : Ink::plain);
    }
  } catch (const Error& error) {
    train_unrecorded(error, true);
  }
}

void JobRun::hear(const jobs::DriverEvent& event) {
  std::visit([this](const auto& one) { hear_of(one); }, event);
}

void JobRun::hear_of(const records::ProfileAsked& asked) {
  messages_.say(profiling_text(asked, !options_.batch_sizes.empty()));
}

// After an interrupt no training follows.
void JobRun::hear_of(const records::TryStarted& started) {
  if (is_interrupted()) {
    return;
  }
  messages_.say(try_text(started, !options_.batch_sizes.empty(), set_limits_));
}

void JobRun::hear_of(const records::FailedTries& failed) {
  messages_.warn(give_up_text(options_, failed, closest_));
}

void JobRun::hear_of(const jobs::TryJudged& judged) {
  const records::TryPlan& plan = judged.step.event.plan;
  const records::TryProgress& progress = judged.result.progress;
  outcome_ = judged.result.outcome;
  took_ = progress.time;
  note_metric(plan.batch_size, progress.metric);
  if (records::reached(outcome_)) {
    if (options_.target) {
      if (const auto question = direction_question(*options_.target, progress.epochs, progress.metric)) {
        messages_.warn(*question);
      }
    }
  } else {
    messages_.say(miss_text({.outcome = outcome_,
                             .batch_size = options_.batch_sizes.empty() ? std::nullopt : std::optional{plan.batch_size},
                             .epochs = progress.epochs,
                             .epochs_used_up = progress.epochs >= plan.max_epochs,
                             .energy = judged.energy,
                             .metric = progress.metric,
                             .exit_code = judged.result.exit_code}));
  }
}

void JobRun::hear_of(const jobs::TrainingOver& over) {
  asked_while_it_ran_ = is_interrupted();
  const bool told_to_end = training_->command().told_to_end();
  exit_code_ = over.seen_through && told_to_end ? 0 : *training_->command().exit_code();
  complain();
  const std::optional<Unmeasured> unmeasured = training_->unmeasured();
  if (const auto text = unmeasured && exit_code_ == 0 ? unmeasured_text(*unmeasured) : std::nullopt) {
    messages_.say(*text);
  }
  if (options_.target && over.seen_through && !told_to_end && records::reached(outcome_)) {
    if (const auto text = after_target_text(took_, training_->taken_since_closed())) {
      messages_.say(*text);
    }
  }
  if (outcome_ == records::TryOutcome::lost) {
    if (const auto reason = training_->command().why_not_run()) {
      messages_.warn(*reason);
    }
  }
}

void JobRun::note_metric(int batch_size, std::optional<double> metric) {
  if (!options_.target || !metric) {
    return;
  }
  const bool better =
      !closest_ || (options_.target->higher_is_better ? *metric > closest_->metric : *metric < closest_->metric);
  if (better) {
    closest_ = Closest{.metric = *metric, .batch_size = batch_size};
  }
}

}  // namespace zeus::run
