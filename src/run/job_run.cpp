#include "run/job_run.hpp"

#include "run/run_texts.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace zeus::run {

namespace {

// How long nothing needs to happen before signs of life are due.
constexpr Seconds patience{5};
constexpr Seconds between_progress_records{5};

TrainingOptions session_options(const RunOptions& options) {
  TrainingOptions session;
  session.mode = options.mode;
  session.eta = options.eta;
  if (options.max_slowdown) {
    session.goal = MaxSlowdown{.factor = *options.max_slowdown};
  } else {
    session.goal = LeastCost{.eta = options.eta};
  }
  session.limits = options.power_limits;
  return session;
}

}  // namespace

JobRun::JobRun(const RunOptions& options, const Place& place, Voice& voice)
    : options_{options},
      place_{place},
      voice_{voice},
      command_{options.command},
      gpus_{place, options.gpus},
      set_limits_{options.set_limits} {
  voice_.set_open_line([this] { return attempt_ && attempt_->command().in_the_middle_of_a_line(); });
}

JobRun::~JobRun() {
  voice_.set_open_line({});
}

int JobRun::run() {
  if (gpus_.none()) {
    voice_.warn("no GPU can be seen, so nothing is optimized or recorded; `zeus doctor` says why");
    set_limits_ = false;
    tuning_.emplace(gpus_, session_options(options_), place_.clock);
    return run_alone();
  }
  if (set_limits_ && options_.mode != TrainingMode::passive) {
    if (const std::optional<Error>& why_not = gpus_.why_not_settable()) {
      voice_.warn(fmt::format("power limits stay as they are: {}", why_not->what()));
      set_limits_ = false;
    }
  }
  device_ = gpus_.device(options_.power_limits, set_limits_);
  tuning_.emplace(gpus_, session_options(options_), place_.clock);
  const bool observes = options_.mode != TrainingMode::optimize;
  return options_.job.empty() || observes ? run_alone() : run_recurrence();
}

void JobRun::start(int batch_size, std::uint64_t seed) {
  TryValues values{.batch_size = {},
                   .learning_rate = {},
                   .seed = seed,
                   .epochs = options_.max_epochs,
                   .target_metric = options_.target ? std::optional{options_.target->metric} : std::nullopt,
                   .higher_is_better = !options_.target || options_.target->higher_is_better};
  if (!options_.batch_sizes.empty()) {
    values.batch_size = batch_size;
  }
  if (options_.learning_rate) {
    values.learning_rate = values.batch_size ? options_.learning_rate->at(batch_size) : options_.learning_rate->rate;
  }
  const WatchedCommand::Plan plan{.command = command_.fill(values),
                                  .environment = place_.environment,
                                  .variables = environment_of(values),
                                  .patterns = options_.patterns,
                                  .grace = options_.grace};
  const auto cost = [this](Joules energy, Seconds time) { return records_ ? records_->cost(energy, time) : Joules{}; };
  attempt_ = std::make_unique<Attempt>(plan, gpus_, *tuning_, cost, place_.clock);
  batch_size_ = batch_size;
  profiles_wanted_ = false;
}

void JobRun::go_on() {
  attempt_->go_on(patience);
  if (attempt_->has_ended()) {
    exit_code_ = *attempt_->command().exit_code();
  }
  if (records_) {
    records_->beat();
  }
}

void JobRun::end_command() {
  attempt_->command().end();
  while (!attempt_->has_ended()) {
    go_on();
  }
  tuning_->leave();
}

void JobRun::abandon() {
  if (!attempt_) {
    return;
  }
  end_command();
  const EnergyAccount::Taken& taken = attempt_->taken();
  records_->profiled({.batch_size = batch_size_, .limits = {}, .charged = taken.gpus, .time = taken.time});
  attempt_.reset();
}

// The rest of a command whose fate is decided, or nobody's business.
void JobRun::see_it_through() {
  if (options_.stop_at_target && attempt_->verdict() == Verdict::reached) {
    attempt_->command().end();
  }
  while (!attempt_->has_ended()) {
    go_on();
  }
  if (attempt_->command().told_to_end()) {
    exit_code_ = 0;
  }
  tuning_->leave();
}

void JobRun::complain() {
  // A command that failed had no chance to show anything.
  if (exit_code_ == 0 || attempt_->command().told_to_end()) {
    for (const std::string& text : silence_text(options_, attempt_->command().seen())) {
      voice_.warn(text);
    }
  }
  if (attempt_->progress().diverged()) {
    voice_.warn("the metric was NaN or infinite at times, which reaches no target");
  }
}

int JobRun::run_alone() {
  start(options_.default_batch_size.value_or(0), options_.seed);
  if (set_limits_ || (options_.mode == TrainingMode::passive && !gpus_.none())) {
    tuning_->optimize();
  }
  see_it_through();
  complain();
  if (const auto reason = ChildProcess::why_not_run(command_.words().front(), exit_code_)) {
    voice_.warn(*reason);
  } else if (const std::optional<TrainingResult>& result = tuning_->result()) {
    voice_.say(alone_text(*result));
  } else if (!gpus_.none()) {
    const EnergyAccount::Taken& taken = attempt_->taken();
    voice_.say(fmt::format("{} in {}", to_text(taken.energy()), to_text(taken.time)));
  }
  return exit_code_;
}

int JobRun::run_recurrence() {
  records_.emplace(options_, device_, place_, voice_);
  while (const std::optional<jobs::Step> step = records_->next()) {
    if (std::visit([this](const auto& what) { return carry_out(what); }, *step) == Next::end) {
      return exit_code_;
    }
  }
  // Nothing can be decided any more; a model is needed all the same.
  if (!attempt_) {
    return run_alone();
  }
  see_it_through();
  return exit_code_;
}

JobRun::Next JobRun::carry_out(const jobs::ProfileStep& step) {
  voice_.say(profiling_text(step, !options_.batch_sizes.empty()));
  if (attempt_ && batch_size_ != step.batch_size) {
    abandon();
  }
  if (!attempt_) {
    start(step.batch_size, records_->seed_of_next_try());
  }
  if (attempt_->is_decided()) {
    return Next::step;
  }
  attempt_->judge_by(
      {.target = options_.target, .max_epochs = definition_of(options_, device_).max_epochs, .budget = {}});
  if (set_limits_ && step.limits.size() > 1) {
    tuning_->measure(step.limits, options_.profile_time);
  } else {
    tuning_->watch(step.limits.front(), options_.profile_time, set_limits_);
  }
  profiles_wanted_ = true;
  while (!attempt_->is_decided() && profiles_wanted_) {
    go_on();
    if (!tuning_->left_alone().empty()) {
      profiles_wanted_ = false;
    } else if (!tuning_->measuring()) {
      record_profiles();
    }
  }
  if (profiles_wanted_) {
    record_profiles();
  }
  return Next::step;
}

void JobRun::record_profiles() {
  std::vector<records::LimitProfile> limits = tuning_->profiles(attempt_->progress());
  if (limits.empty()) {
    return;
  }
  records_->profiled({.batch_size = batch_size_, .limits = std::move(limits), .charged = {}, .time = {}});
  profiles_wanted_ = false;
}

// Once all that is wanted is measured: the best of what is known by now, which may be more.
void JobRun::settle() {
  record_profiles();
  if (profiles_wanted_ || !set_limits_) {
    return;
  }
  if (const std::optional<Watts> best = records_->best_limit(batch_size_); best && best != tuning_->chosen()) {
    tuning_->hold(*best);
  }
}

void JobRun::tune_for(const jobs::RunStep& step) {
  const std::vector<Watts> missing = records_->not_measured(step.batch_size, device_.power_limits);
  profiles_wanted_ = !step.limit && !missing.empty();
  const Watts one = step.limit.value_or(device_.power_limits.back());
  if (profiles_wanted_ && device_.power_limits.size() > 1) {
    tuning_->measure(missing, options_.profile_time);
  } else if (profiles_wanted_) {
    tuning_->watch(one, options_.profile_time, set_limits_);
  } else if (set_limits_) {
    tuning_->hold(step.limit ? one : records_->best_limit(step.batch_size).value_or(one));
  } else {
    tuning_->leave();
  }
}

void JobRun::note_progress() {
  const Instant now = place_.clock.now();
  const int epochs = attempt_->progress().epochs();
  if (epochs == epochs_recorded_ || now - progress_recorded_ < between_progress_records) {
    return;
  }
  epochs_recorded_ = epochs;
  progress_recorded_ = now;
  const EnergyAccount::Taken& taken = attempt_->taken_so_far();
  records_->epochs({.epochs = epochs, .metric = attempt_->progress().metric(), .gpus = taken.gpus, .time = taken.time});
}

JobRun::Next JobRun::carry_out(const jobs::RunStep& step) {
  voice_.say(try_text(step, !options_.batch_sizes.empty()));
  if (attempt_ && batch_size_ != step.batch_size) {
    if (attempt_->verdict() == Verdict::reached) {
      records_->give_up(fmt::format("batch size {} reached the target while it was measured", batch_size_));
      see_it_through();
      return Next::end;
    }
    abandon();
  }
  if (!attempt_) {
    start(step.batch_size, step.seed);
  }
  epochs_recorded_ = 0;
  progress_recorded_ = place_.clock.now();
  attempt_->judge_by({.target = options_.target, .max_epochs = step.max_epochs, .budget = step.budget});
  if (!attempt_->is_decided()) {
    tune_for(step);
  }
  while (!attempt_->is_decided()) {
    go_on();
    note_progress();
    if (profiles_wanted_ && !tuning_->measuring()) {
      settle();
    }
  }
  if (profiles_wanted_) {
    record_profiles();
  }
  return after(step, finished(step));
}

// A batch size that fails where others have worked is too large for the memory, most likely; a batch size that works
// fails for some other reason.
bool JobRun::crash_counts(const jobs::RunStep& step, const jobs::Finished& finished) {
  if (finished.outcome != records::TryOutcome::lost || finished.exit_code.value_or(0) == 0 ||
      attempt_->command().interrupted() || step.batch_size == options_.default_batch_size) {
    return false;
  }
  const std::optional<records::JobView> view = records_->view();
  if (!view) {
    return false;
  }
  const auto worked = [](const records::ArmView& arm) { return arm.reached > 0; };
  const auto ours = std::ranges::find(view->arms, step.batch_size, &records::ArmView::batch_size);
  return std::ranges::any_of(view->arms, worked) && ours != view->arms.end() && !worked(*ours);
}

jobs::Finished JobRun::finished(const jobs::RunStep& step) {
  const EnergyAccount::Taken& taken = attempt_->taken();
  jobs::Finished finished{.outcome = attempt_->outcome(),
                          .epochs = attempt_->progress().epochs(),
                          .gpus = taken.gpus,
                          .time = taken.time,
                          .limit = tuning_->chosen() ? tuning_->chosen() : step.limit,
                          .metric = attempt_->progress().metric(),
                          .exit_code = attempt_->command().exit_code(),
                          .left_out = {}};
  if (!set_limits_) {
    finished.limit = device_.power_limits.front();
  }
  if (!taken.unknown.empty()) {
    finished.gpus.clear();
    finished.left_out = fmt::format("its energy is not known: {}", taken.unknown);
  } else if (attempt_->was_stopped()) {
    finished.left_out = "it was stopped for a while, as by Ctrl-Z";
  } else if (set_limits_ && !tuning_->left_alone().empty()) {
    finished.left_out = tuning_->left_alone();
  }
  if (crash_counts(step, finished)) {
    finished.outcome = records::TryOutcome::exhausted;
  }
  return finished;
}

JobRun::Next JobRun::after(const jobs::RunStep& step, const jobs::Finished& finished) {
  records_->finished(finished);
  const bool reached = records::reached(finished.outcome);
  if (!reached) {
    voice_.say(miss_text({.outcome = finished.outcome,
                          .batch_size = step.batch_size,
                          .epochs = finished.epochs,
                          .energy = attempt_->taken().energy(),
                          .metric = finished.metric,
                          .exit_code = finished.exit_code}));
  }
  if (reached || finished.outcome == records::TryOutcome::lost) {
    see_it_through();
    complain();
    if (const auto reason = ChildProcess::why_not_run(command_.words().front(), exit_code_); reason && !reached) {
      voice_.warn(*reason);
    }
    records_->give_up(fmt::format("the command ended with exit code {}", exit_code_));
    if (const std::optional<records::JobView> view = records_->view(); view && reached) {
      voice_.say(recurrence_text(*view, view->recurrences.at(records_->recurrence())));
    }
    return Next::end;
  }
  end_command();
  complain();
  const bool interrupted = attempt_->command().interrupted();
  attempt_.reset();
  if (interrupted) {
    records_->give_up("it was interrupted");
    return Next::end;
  }
  return Next::step;
}

JobRun::Next JobRun::carry_out(const jobs::GiveUpStep& step) {
  voice_.warn(fmt::format("{} tries have missed the target, and that is as often as it is tried: see `zeus jobs {}`",
                          step.tries, options_.job));
  return Next::end;
}

}  // namespace zeus::run
