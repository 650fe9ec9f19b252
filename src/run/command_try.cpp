#include "run/command_try.hpp"

#include "optimize/recurrence/judgement.hpp"
#include "run/watched_command.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace zeus::run {

namespace {

// How long nothing may happen before a beat is due.
constexpr Seconds longest_wait{5};
constexpr Seconds between_signs{60};
// By this many progress events the start of the training is known.
constexpr int first_words = 2;

TrainingOptions session_options(const RunOptions& options) {
  TrainingOptions session;
  session.mode = options.mode;
  session.eta = options.eta;
  if (options.max_slowdown) {
    session.goal = MaxSlowdown{.factor = *options.max_slowdown};
  }
  session.profiling.limits = options.power_limits;
  return session;
}

}  // namespace

CommandTry::Running::Running(const Command::Plan& plan, const Launch& launch, TrainingGpus& gpus, Clock& clock)
    : meter{gpus.monitor(), [&gpus](int number) { return gpus.uuid(number); }},
      account{meter},
      command{launch(plan)},
      began{clock.now()},
      stayed{began},
      found{gpus.limit_in_force()} {
}

CommandTry::CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits)
    : CommandTry{options, place, gpus, sets_limits, [&clock = place.clock](const Command::Plan& plan) {
                   return std::make_unique<WatchedCommand>(plan, clock);
                 }} {
}

CommandTry::CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits,
                       Launch launch)
    : options_{options},
      place_{place},
      gpus_{gpus},
      sets_limits_{sets_limits},
      launch_{std::move(launch)},
      command_{options.command},
      tuning_{gpus, session_options(options), place.clock} {
}

void CommandTry::start(int batch_size, std::uint64_t seed) {
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
  running_.reset();
  running_.emplace(Command::Plan{.command = command_.fill(values),
                                 .environment = place_.environment,
                                 .variables = environment_of(values),
                                 .patterns = options_.patterns,
                                 .grace = options_.grace,
                                 .overheard =
                                     [this](std::size_t stream, std::string_view bytes) {
                                       if (running_ && running_->step_reports == 0) {
                                         running_->study.hear(stream, bytes);
                                       }
                                     }},
                   launch_, gpus_, place_.clock);
  tuning_.begin_command();
}

void CommandTry::hold(Watts limit) {
  tuning_.hold(limit);
}

void CommandTry::leave() {
  tuning_.leave();
}

void CommandTry::measure(const std::vector<Watts>& limits, const Known& known) {
  constexpr Seconds usual_time{5};
  const bool measured_before = std::exchange(running_->measured_any, true) || !sets_limits_;
  std::vector<Watts> all = reference_.add_to(limits, known, measured_before);
  const Seconds each =
      trial::time_for_each_limit(options_.profile_time.value_or(usual_time), known.run_time, all.size());
  if (sets_limits_ && all.size() > 1) {
    tuning_.measure(std::move(all), each);
  } else {
    tuning_.watch(limits.front(), each, sets_limits_);
  }
}

void CommandTry::optimize() {
  // Only this training uses the results, so measuring must take little of its time.
  constexpr Seconds usual_time{1.5};
  tuning_.optimize(options_.profile_time.value_or(usual_time));
}

std::vector<jobs::Try::Event> CommandTry::go_on() {
  Running& running = *running_;
  const std::vector<Progress> all = running.command->wait(longest_wait);
  const Instant now = place_.clock.now();
  if (running.command->times_stopped() != running.times_stopped) {
    running.times_stopped = running.command->times_stopped();
    tuning_.forget_what_is_measured();
  }
  std::vector<Event> events;
  for (const Progress& progress : all) {
    // The try's costs end here, however long the next decision and its record take.
    if (const auto* metric = std::get_if<run::MetricSeen>(&progress);
        metric != nullptr && optimize::Judgement{.target = options_.target}.reaches(metric->value)) {
      (void)close();
    }
    running.progress.take(progress, now);
    tuning_.take(progress);
    if (std::holds_alternative<EpochsDone>(progress)) {
      events.emplace_back(EpochOver{.epochs = running.progress.epochs()});
    } else if (const auto* metric = std::get_if<run::MetricSeen>(&progress)) {
      events.emplace_back(MetricSeen{.value = metric->value});
    } else if (running.step_reports < first_words) {
      ++running.step_reports;
      events.emplace_back(StepsSeen{});
    }
  }
  if (now - running.stayed >= between_signs) {
    running.stayed = now;
    tuning_.stay();
  }
  if (running.command->exit_code()) {
    running.account.close();
    running.epochs_seen = running.progress.epochs();
    // A job without any visible epoch counts as one epoch.
    if (running.progress.epochs() == 0 && running.command->exit_code() == 0) {
      running.progress.take(EpochsDone{}, now);
    }
  }
  return events;
}

void CommandTry::stop() {
  running_->command->end();
}

jobs::Try::State CommandTry::state() {
  Running& running = *running_;
  return {.epochs = running.progress.epochs(),
          .metric = running.progress.metric(),
          .exit_code = running.command->exit_code(),
          .interrupted = running.command->asked_to_end().has_value(),
          .stood_still = running.times_stopped > 0,
          .measuring = tuning_.measuring(),
          .disturbed = tuning_.comparing(),
          .left_alone = tuning_.left_alone(),
          .limit = tuning_.chosen(),
          .found = tuning_.set_any() ? std::nullopt : running.found,
          .beside_steps = running.progress.part_beside_steps()};
}

std::vector<records::LimitProfile> CommandTry::measured() {
  return reference_.scale(tuning_.profiles(running_->progress));
}

jobs::Try::Taken CommandTry::taken_so_far() {
  return running_->account.look();
}

jobs::Try::Taken CommandTry::close() {
  Taken taken = running_->account.close();
  if (!running_->command->exit_code() && !running_->afterwards) {
    running_->afterwards.emplace(running_->meter);
  }
  return taken;
}

std::optional<Unmeasured> CommandTry::unmeasured() const {
  const std::size_t limits = tuning_.unmeasured();
  if (limits == 0) {
    return std::nullopt;
  }
  Unmeasured training{.limits = limits,
                      .time = place_.clock.now() - running_->began,
                      .steps = running_->step_reports > 0,
                      .epochs = running_->epochs_seen,
                      .lines = {}};
  if (!training.steps) {
    if (const std::optional<ProposedSteps> steps = running_->study.propose().steps) {
      training.lines = steps->expression;
    }
  }
  return training;
}

std::optional<jobs::Try::Taken> CommandTry::taken_since_closed() {
  return running_->afterwards ? std::optional{running_->afterwards->look()} : std::nullopt;
}

}  // namespace zeus::run
