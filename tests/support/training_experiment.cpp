#include "tests/support/training_experiment.hpp"

#include "optimize/cost/energy_time_cost.hpp"
#include "physics/gpu_model.hpp"
#include "train/session.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::test {

namespace {

constexpr int epochs = 20;

const physics::GpuModel& model() {
  return physics::preset("V100");
}

TrainingWork work_for(std::string_view workload) {
  TrainingWork work = work_of(workload, model());
  work.set_latency = 15_ms;
  return work;
}

Joules cost_at(const TrainingWork& work, const PowerSetting& setting) {
  const SettledStep step = settled_step(model(), work, setting);
  return optimize::EnergyTimeCost{0.5, model().limits.max}.of(step.energy, step.time);
}

PowerSetting best_limit(const TrainingWork& work) {
  PowerSetting best{.limit = model().limits.max, .clock = std::nullopt};
  for (Watts limit = model().limits.max; limit >= model().limits.min; limit -= 25_W) {
    const PowerSetting setting{.limit = limit, .clock = std::nullopt};
    if (cost_at(work, setting) < cost_at(work, best)) {
      best = setting;
    }
  }
  return best;
}

// Steps in an epoch of this length at the best limit.
int steps_in(const TrainingWork& work, Seconds epoch) {
  return std::max(1, static_cast<int>(std::lround(epoch / settled_step(model(), work, best_limit(work)).time)));
}

const std::shared_ptr<const TemporaryFolder>& folder() {
  static const auto shared = std::make_shared<const TemporaryFolder>();
  return shared;
}

std::vector<physics::GpuModel> four_gpus() {
  return std::vector<physics::GpuModel>(4, model());
}

TrainingOptions options_for(int steps) {
  TrainingOptions options;
  options.stopping.max_epochs = epochs;
  options.steps_per_epoch = static_cast<std::uint64_t>(steps);
  return options;
}

template <typename AfterStep>
TrainingResult run(const TrainingOptions& options, VirtualTraining& training, int steps, AfterStep after_step) {
  train::Session session{training.parts(), options};
  for (int number = 0; number < epochs && session.next_epoch(); ++number) {
    for (int step = 0; step < steps; ++step) {
      session.begin_step();
      training.step();
      after_step();
    }
    session.end_steps();
  }
  session.finish();
  return session.result();
}

}  // namespace

ChoiceOutcome choose_and_account(std::string_view workload, Seconds epoch, std::uint64_t seed) {
  const TrainingWork work = work_for(workload);
  const int steps = steps_in(work, epoch);
  VirtualTraining training{four_gpus(), work, seed, 0, folder()};
  train::Session session{training.parts(), options_for(steps)};
  int number = 0;
  for (; number < epochs && (number == 0 || session.profiling()) && session.next_epoch(); ++number) {
    for (int step = 0; step < steps && (step < 2 || session.profiling()); ++step) {
      session.begin_step();
      training.step();
    }
  }
  const Seconds took = training.elapsed();
  ChoiceOutcome outcome;
  outcome.steps = static_cast<double>(session.result().profiling_steps);
  if (!session.optimum()) {
    return {.cost = 1e9, .extra_time = 1e9, .steps = outcome.steps};
  }
  const Seconds step_time = settled_step(model(), work, *session.optimum()).time;
  const double slower = step_time / work.step;
  outcome.cost = cost_at(work, *session.optimum()) / cost_at(work, best_limit(work));
  outcome.extra_time = (took - training.work_done() * slower) / (step_time * steps * epochs);
  return outcome;
}

ObserverOutcome observe(std::string_view workload, Seconds epoch, std::uint64_t seed) {
  const TrainingWork work = work_for(workload);
  const int steps = steps_in(work, epoch);
  bool only_in_slices = true;
  bool in_slices = false;
  std::size_t calls_in_slices = 0;

  VirtualTraining observed{four_gpus(), work, seed, 0, folder()};
  TrainingOptions options = options_for(steps);
  options.mode = TrainingMode::observe;
  options.listener = [&](const TrainingEvent& event) {
    if (std::holds_alternative<SettingApplied>(event) || std::holds_alternative<SettingsRestored>(event)) {
      in_slices = std::holds_alternative<SettingApplied>(event);
      calls_in_slices = observed.calls().size();
    }
  };
  const TrainingResult observation = run(options, observed, steps, [&] {
    only_in_slices = only_in_slices && (in_slices || (observed.calls().size() == calls_in_slices &&
                                                      observed.limit(0) == model().limits.default_limit));
  });

  // The same training again, at the settings found.
  VirtualTraining optimized{four_gpus(), work, seed, 0, folder()};
  options = options_for(steps);
  options.profiling.known = observation.profile;
  const TrainingResult applied = run(options, optimized, steps, [] {});
  if (!observation.prediction || !applied.energy || applied.optimum != observation.optimum) {
    return {.time_error = 1e9, .energy_error = 1e9, .cost_error = 1e9};
  }
  const TrainingPrediction& predicted = *observation.prediction;
  return {.time_error = std::abs(predicted.time / applied.time - 1),
          .energy_error = std::abs(predicted.energy.value / applied.energy->value - 1),
          .cost_error = std::abs(predicted.cost / *applied.cost - 1),
          .within_interval = std::abs((predicted.cost - *applied.cost).value()) <= predicted.cost_uncertainty.value(),
          .only_in_slices = only_in_slices};
}

}  // namespace zeus::test
