#include "run/command_try.hpp"

#include "run/watched_command.hpp"
#include "trial/monitor_windows.hpp"

#include <memory>
#include <utility>

namespace zeus::run {

namespace {

constexpr Seconds usual_profile_time{5};
// Where only this training uses the results, so that measuring must take little of its time.
constexpr Seconds usual_search_time{1.5};

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

trial_sessions::SessionGpus::Parts session_parts(TrainingGpus& gpus, bool sets_limits, Clock& clock) {
  return {.open = [&gpus](const TrainingOptions& options) { return gpus.open(options); },
          .meter = std::make_unique<trial::MonitorWindows<Monitor>>(gpus.monitor(),
                                                                    [&gpus](int number) { return gpus.uuid(number); }),
          .sets_limits = sets_limits,
          .limit_in_force = [&gpus] { return gpus.limit_in_force(); },
          .clock = clock};
}

}  // namespace

CommandTry::CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits)
    : CommandTry{options, place, gpus, sets_limits, [&clock = place.clock](const Command::Plan& plan) {
                   return std::make_unique<WatchedCommand>(plan, clock);
                 }} {
}

CommandTry::CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits,
                       Launch launch)
    : options_{options},
      source_{options_, place.environment, place.clock, std::move(launch)},
      gpus_{session_parts(gpus, sets_limits, place.clock), session_options(options)},
      instruments_{gpus_, options.profile_time.value_or(usual_profile_time), place.clock},
      trial_{source_, instruments_, place.clock} {
  trial_.set_target(options.target);
}

void CommandTry::optimize() {
  instruments_.search(options_.profile_time.value_or(usual_search_time));
}

std::optional<LimitsLost> CommandTry::limits_lost() const {
  const std::optional<trial_sessions::SessionGpus::Loss>& loss = gpus_.loss();
  if (!loss) {
    return std::nullopt;
  }
  const Instant began = source_.began();
  return LimitsLost{.from = loss->from - began,
                    .until = loss->until ? std::optional{*loss->until - began} : std::nullopt,
                    .why = gpus_.left_alone()};
}

std::optional<Unmeasured> CommandTry::unmeasured() const {
  const std::size_t limits = instruments_.unmeasured();
  if (limits == 0) {
    return std::nullopt;
  }
  Unmeasured training{.limits = limits,
                      .time = source_.time(),
                      .steps = trial_.has_seen_steps(),
                      .epochs = trial_.epochs_seen(),
                      .lines = {}};
  if (!training.steps) {
    if (const std::optional<ProposedSteps> steps = source_.proposed_steps()) {
      training.lines = steps->expression;
    }
  }
  return training;
}

}  // namespace zeus::run
