// The training part of zeus.h: each function calls the member of zeus::Training with that name, behind a wall that no
// exception passes.
#include <zeus/zeus.h>
#include <zeus/train.hpp>

#include "base/c_wall.hpp"
#include "library/c_guard.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

// NOLINTBEGIN(readability-identifier-naming): the names are those of zeus.h
struct zeus_training {
  zeus::Training training;
  // The result that was read last, until the training goes on: reading each epoch does not copy all of them.
  mutable std::optional<zeus::TrainingResult> result = std::nullopt;
};
// NOLINTEND(readability-identifier-naming)

namespace {

using zeus::c_wall::expect;
using zeus::c_wall::give_back;
using zeus::c_wall::give_text;
using zeus::c_wall::number_behind;
using zeus::c_wall::number_of;
using zeus::c_wall::numbers;
using zeus::c_wall::optional_of;
using zeus::c_wall::unknown;
using zeus::library::guarded;

zeus::TrainingMode mode_of(const zeus_training_mode& mode) {
  switch (number_behind(mode)) {
    case ZEUS_TRAINING_OPTIMIZE:
      return zeus::TrainingMode::optimize;
    case ZEUS_TRAINING_OBSERVE:
      return zeus::TrainingMode::observe;
    case ZEUS_TRAINING_PASSIVE:
      return zeus::TrainingMode::passive;
  }
  expect(false, "there is no such mode of training");
  return {};
}

zeus::PowerGoal goal_of(const zeus_training_options& options) {
  switch (number_behind(options.goal)) {
    case ZEUS_LEAST_COST:
      return zeus::LeastCost{};
    case ZEUS_LEAST_TIME:
      return zeus::LeastTime{};
    case ZEUS_LEAST_ENERGY:
      return zeus::LeastEnergy{};
    case ZEUS_MAX_SLOWDOWN: {
      zeus::MaxSlowdown goal;
      goal.factor = options.max_slowdown != 0 ? options.max_slowdown : goal.factor;
      return goal;
    }
  }
  expect(false, "there is no such goal");
  return {};
}

// The only place here that knows the structure of TrainingOptions.
zeus::TrainingOptions training_options_from(const zeus_training_options& given) {
  zeus::TrainingOptions options;
  options.mode = mode_of(given.mode);
  options.eta = optional_of(given.eta).value_or(options.eta);
  options.goal = goal_of(given);
  expect(given.max_slowdown == 0 || number_behind(given.goal) == ZEUS_MAX_SLOWDOWN,
         "a slowdown is given although the goal is another one");
  if (const auto target = optional_of(given.target)) {
    options.stopping.target = zeus::TrainingTarget{.metric = *target, .higher_is_better = given.lower_is_better == 0};
  }
  if (given.max_epochs != 0) {
    options.stopping.max_epochs = given.max_epochs;
  }
  if (const auto limit = optional_of(given.cost_limit)) {
    options.stopping.cost_limit = zeus::Joules{*limit};
  }
  if (given.gpus != nullptr) {
    options.gpus = numbers(given.gpus, given.gpu_count);
  }
  if (given.synchronize != nullptr) {
    options.synchronize = [call = given.synchronize, data = given.synchronize_data] {
      if (const int code = call(data); code != 0) {
        throw zeus::Error{zeus::ErrorKind::unavailable,
                          fmt::format("the synchronization callback failed with {}", code),
                          "find out why the callback failed"};
      }
    };
  }
  for (const double limit : numbers(given.limits, given.limit_count)) {
    expect(std::isfinite(limit) && limit > 0, "a power limit is not a number of watts above 0");
    options.profiling.limits.emplace_back(limit);
  }
  if (given.batch_size != 0) {
    options.batch_size = given.batch_size;
  }
  if (given.steps_per_epoch != 0) {
    options.steps_per_epoch = given.steps_per_epoch;
  }
  options.files.profiles = given.profile_file != nullptr ? given.profile_file : "";
  options.files.result = given.result_file != nullptr ? given.result_file : "";
  return options;
}

zeus_stop_reason reason_of(std::optional<zeus::StopReason> reason) {
  if (!reason) {
    return ZEUS_NOT_STOPPED;
  }
  switch (*reason) {
    case zeus::StopReason::target_reached:
      return ZEUS_TARGET_REACHED;
    case zeus::StopReason::epochs_used_up:
      return ZEUS_EPOCHS_USED_UP;
    case zeus::StopReason::too_expensive:
      break;
  }
  return ZEUS_TOO_EXPENSIVE;
}

void put(const std::optional<zeus::Energy>& energy, double& value, double& uncertainty) {
  value = energy ? energy->value.value() : unknown;
  uncertainty = energy ? energy->uncertainty.value() : unknown;
}

zeus_training_result c_training_result(const zeus::TrainingResult& from) {
  zeus_training_result result{};
  result.stopped_by = reason_of(from.stopped_by);
  result.epochs = from.epochs.size();
  result.time = from.time.value();
  put(from.energy, result.energy, result.energy_uncertainty);
  result.cost = number_of(from.cost);
  result.metric = from.metric.value_or(unknown);
  result.limit = from.optimum ? from.optimum->limit.value() : unknown;
  result.clock = from.optimum ? number_of(from.optimum->clock) : unknown;
  result.applied = from.applied ? 1 : 0;
  result.profiling_steps = from.profiling_steps;
  result.profiling_time = from.profiling_time.value();
  const auto& prediction = from.prediction;
  result.predicted_time = prediction ? prediction->time.value() : unknown;
  result.predicted_time_uncertainty = prediction ? prediction->time_uncertainty.value() : unknown;
  put(prediction ? std::optional{prediction->energy} : std::nullopt, result.predicted_energy,
      result.predicted_energy_uncertainty);
  result.predicted_cost = prediction ? prediction->cost.value() : unknown;
  result.predicted_cost_uncertainty = prediction ? prediction->cost_uncertainty.value() : unknown;
  give_text(from.no_prediction, result.no_prediction);
  give_text(from.unoptimized, result.unoptimized);
  return result;
}

zeus_epoch c_epoch(const zeus::EpochReport& from) {
  zeus_epoch epoch{};
  epoch.number = from.number;
  epoch.steps = from.steps;
  epoch.time = from.time.value();
  put(from.energy, epoch.energy, epoch.energy_uncertainty);
  epoch.cost = number_of(from.cost);
  epoch.metric = from.metric.value_or(unknown);
  epoch.profiled = from.profiled ? 1 : 0;
  return epoch;
}

template <typename Body>
zeus_status with(zeus_training* training, Body body) noexcept {
  return guarded([&] {
    expect(training != nullptr, "the training is missing");
    training->result.reset();
    body(training->training);
  });
}

template <typename Body>
zeus_status with(const zeus_training* training, Body body) noexcept {
  return guarded([&] {
    expect(training != nullptr, "the training is missing");
    body(training->training);
  });
}

}  // namespace

extern "C" {

zeus_status zeus_training_open(const zeus_training_options* options, zeus_training** training) {
  return guarded([&] {
    expect(training != nullptr, "the pointer for the training is null");
    *training = nullptr;
    const zeus_training_options full = options != nullptr ? zeus::c_wall::known_part(options) : zeus_training_options{};
    *training = new zeus_training{zeus::Training{training_options_from(full)}};
  });
}

void zeus_training_close(zeus_training* training) {
  (void)guarded([&] { delete training; });
}

zeus_status zeus_training_next_epoch(zeus_training* training, int* go_on) {
  return with(training, [&](zeus::Training& it) {
    expect(go_on != nullptr, "the pointer for the answer is null");
    *go_on = 0;
    *go_on = it.next_epoch() ? 1 : 0;
  });
}

zeus_status zeus_training_begin_epoch(zeus_training* training) {
  return with(training, [](zeus::Training& it) { it.begin_epoch(); });
}

zeus_status zeus_training_end_epoch(zeus_training* training) {
  return with(training, [](zeus::Training& it) { it.end_epoch(); });
}

zeus_status zeus_training_begin_step(zeus_training* training) {
  return with(training, [](zeus::Training& it) { it.begin_step(); });
}

zeus_status zeus_training_progress(zeus_training* training, uint64_t steps) {
  return with(training, [&](zeus::Training& it) { it.progress(steps); });
}

zeus_status zeus_training_end_steps(zeus_training* training) {
  return with(training, [](zeus::Training& it) { it.end_steps(); });
}

zeus_status zeus_training_report(zeus_training* training, double metric) {
  return with(training, [&](zeus::Training& it) { it.report(metric); });
}

zeus_status zeus_training_set_target(zeus_training* training, double metric, int lower_is_better) {
  return with(training,
              [&](zeus::Training& it) { it.set_target({.metric = metric, .higher_is_better = lower_is_better == 0}); });
}

zeus_status zeus_training_set_batch_size(zeus_training* training, uint64_t batch_size) {
  return with(training, [&](zeus::Training& it) {
    expect(batch_size > 0, "the batch size is 0");
    it.set_batch_size(batch_size);
  });
}

zeus_status zeus_training_stop_reason(const zeus_training* training, zeus_stop_reason* reason) {
  return with(training, [&](const zeus::Training& it) {
    expect(reason != nullptr, "the pointer for the reason is null");
    *reason = reason_of(it.stop_reason());
  });
}

zeus_status zeus_training_is_profiling(const zeus_training* training, int* profiling) {
  return with(training, [&](const zeus::Training& it) {
    expect(profiling != nullptr, "the pointer for the answer is null");
    *profiling = it.profiling() ? 1 : 0;
  });
}

zeus_status zeus_training_finish(zeus_training* training) {
  return with(training, [](zeus::Training& it) { it.finish(); });
}

zeus_status zeus_training_get_result(const zeus_training* training, zeus_training_result* result) {
  return with(training, [&](const zeus::Training& it) {
    give_back(c_training_result(training->result.emplace(it.result())), result);
  });
}

zeus_status zeus_training_get_epoch(const zeus_training* training, uint64_t index, zeus_epoch* epoch) {
  return with(training, [&](const zeus::Training& it) {
    const zeus::TrainingResult& result = training->result ? *training->result : training->result.emplace(it.result());
    expect(index < result.epochs.size(), "there is no such epoch", "ask zeus_training_get_result() how many there are");
    give_back(c_epoch(result.epochs[index]), epoch);
  });
}

}  // extern "C"
