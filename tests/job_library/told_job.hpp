// Recurrences of the course (course.hpp) with zeus::Job, written as by a user who measures by other means and reports
// the results. One thread.
#pragma once

#include "course.hpp"

#include <zeus/job.hpp>

#include <filesystem>
#include <string>

namespace zeus::test {

inline JobOptions told_options(const std::filesystem::path& store) {
  JobOptions options;
  options.store = store;
  options.elsewhere = JobDevices{.model = "V100", .max_power = course::max_power, .power_limits = course::limits};
  return options;
}

inline JobDefinition told_definition(const std::string& policy = "") {
  JobDefinition definition;
  definition.batch_sizes = course::batch_sizes;
  definition.default_batch_size = course::default_batch_size;
  definition.target = TrainingTarget{.metric = course::target};
  definition.max_epochs = course::most_epochs;
  definition.policy = policy;
  definition.seed = 7;
  return definition;
}

inline Energy exactly(Joules energy) {
  return {.value = energy, .uncertainty = {}, .systematic = {}};
}

inline void train(Try& attempt) {
  for (const auto epoch : attempt.epochs()) {
    for (auto limits = attempt.limits_to_measure(); !limits.empty(); limits = attempt.limits_to_measure()) {
      attempt.took(course::measuring, exactly(course::measuring_energy));
      attempt.measured(course::profiles(attempt.batch_size(), limits));
    }
    if (attempt.over()) {
      break;
    }
    const LimitProfile one = course::profile(attempt.batch_size(), attempt.limit().value_or(course::max_power));
    attempt.took(one.epoch_time, exactly(one.average_power * one.epoch_time));
    attempt.report(course::metric(attempt.batch_size(), attempt.seed(), static_cast<int>(epoch)));
  }
}

inline void recur(Job& job) {
  while (std::optional<Try> attempt = job.next_try()) {
    train(*attempt);
  }
}

}  // namespace zeus::test
