// jobs.h: each function calls the member of zeus::Job or of its try with that name, behind a wall that no exception
// passes.
#include <zeus/jobs.h>
#include <zeus/job.hpp>

#include "base/c_wall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

// NOLINTBEGIN(readability-identifier-naming): the names are those of jobs.h
struct zeus_job {
  zeus::Job job;
  std::optional<zeus::Try> attempt;
};
// NOLINTEND(readability-identifier-naming)

namespace {

using zeus::c_wall::give_back;
using zeus::c_wall::give_text;
using zeus::c_wall::known_part;
using zeus::c_wall::number_of;
using zeus::c_wall::numbers;
using zeus::c_wall::optional_of;
using zeus::c_wall::unknown;

void expect(bool condition, const char* what, const char* advice = "see jobs.h") {
  zeus::c_wall::expect(condition, what, advice);
}

template <typename Body>
zeus_status guarded(Body&& body) noexcept {
  return zeus::c_wall::guarded<zeus_status>(std::forward<Body>(body), zeus_set_last_error);
}

template <typename Body>
zeus_status with_job(zeus_job* job, Body body) noexcept {
  return guarded([&] {
    expect(job != nullptr, "the job is missing");
    body(*job);
  });
}

template <typename Body>
zeus_status with_try(zeus_job* job, Body body) noexcept {
  return with_job(job, [&](zeus_job& it) {
    expect(it.attempt.has_value(), "no try has begun", "begin one with zeus_job_next_try()");
    body(*it.attempt);
  });
}

zeus::JobDefinition definition_from(const zeus_job_definition& given) {
  zeus::JobDefinition definition;
  definition.batch_sizes = numbers(given.batch_sizes, given.batch_size_count);
  if (given.default_batch_size != 0) {
    definition.default_batch_size = given.default_batch_size;
  }
  if (const auto target = optional_of(given.target)) {
    definition.target = zeus::TrainingTarget{.metric = *target, .higher_is_better = given.lower_is_better == 0};
  }
  if (given.max_epochs != 0) {
    definition.max_epochs = given.max_epochs;
  }
  definition.eta = optional_of(given.eta).value_or(definition.eta);
  definition.beta = optional_of(given.beta).value_or(definition.beta);
  definition.max_slowdown = optional_of(given.max_slowdown);
  definition.window = given.window;
  definition.policy = given.policy != nullptr ? given.policy : "";
  definition.seed = given.seed;
  return definition;
}

zeus::JobOptions options_from(const zeus_job_options& given) {
  zeus::JobOptions options;
  options.store = given.store != nullptr ? given.store : "";
  if (given.gpus != nullptr) {
    options.gpus = numbers(given.gpus, given.gpu_count);
  }
  options.set_limits = given.leave_limits == 0;
  for (const double limit : numbers(given.limits, given.limit_count)) {
    options.power_limits.emplace_back(limit);
  }
  if (given.profile_time != 0) {
    options.profile_time = zeus::Seconds{given.profile_time};
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
  options.server = given.server != nullptr ? given.server : "";
  if (given.server_patience != 0) {
    options.server_patience = zeus::Seconds{given.server_patience};
  }
  if (given.elsewhere_model != nullptr) {
    options.elsewhere = zeus::JobDevices{.model = given.elsewhere_model,
                                         .count = std::max(given.elsewhere_count, 1U),
                                         .max_power = zeus::Watts{given.elsewhere_max_power},
                                         .power_limits = std::exchange(options.power_limits, {})};
  }
  return options;
}

zeus_job_try to_c(const zeus::Try& attempt) {
  zeus_job_try result{};
  result.batch_size = attempt.batch_size();
  result.seed = attempt.seed();
  result.max_epochs = attempt.max_epochs().value_or(0);
  result.cost_limit = number_of(attempt.cost_limit());
  result.limit = number_of(attempt.limit());
  result.over = attempt.over() ? 1 : 0;
  give_text(attempt.why(), result.why);
  return result;
}

zeus_job_summary to_c(const zeus::JobSummary& from) {
  zeus_job_summary summary{};
  summary.recurrences = from.recurrences;
  summary.reached = from.reached;
  summary.tries = from.tries;
  summary.best_cost = number_of(from.best_cost);
  const std::optional<zeus::JobSavings>& savings = from.savings;
  summary.recurrences_counted = savings ? savings->recurrences : 0;
  summary.energy_saved = savings ? savings->energy.value() : unknown;
  summary.energy_saved_uncertainty = savings ? number_of(savings->energy_uncertainty) : unknown;
  summary.energy_of_default = savings ? savings->energy_of_default.value() : unknown;
  summary.time_saved = savings ? savings->time.value() : unknown;
  summary.time_saved_uncertainty = savings ? number_of(savings->time_uncertainty) : unknown;
  summary.time_of_default = savings ? savings->time_of_default.value() : unknown;
  summary.cost_saved = savings ? savings->cost.value() : unknown;
  summary.cost_saved_uncertainty = savings ? number_of(savings->cost_uncertainty) : unknown;
  summary.cost_of_default = savings ? savings->cost_of_default.value() : unknown;
  give_text(from.savings_unknown, summary.savings_unknown);
  give_text(from.next, summary.next);
  return summary;
}

}  // namespace

extern "C" {

zeus_status zeus_job_open(const char* name, const zeus_job_definition* definition, const zeus_job_options* options,
                          zeus_job** job) {
  return guarded([&] {
    expect(job != nullptr, "the pointer for the job is null");
    *job = nullptr;
    expect(name != nullptr, "the job's name is missing");
    const zeus::JobOptions opened = options_from(options != nullptr ? known_part(options) : zeus_job_options{});
    zeus::Job made = definition != nullptr ? zeus::Job{name, definition_from(known_part(definition)), opened}
                                           : zeus::Job{name, opened};
    *job = new zeus_job{std::move(made), std::nullopt};
  });
}

void zeus_job_close(zeus_job* job) {
  (void)guarded([&] {
    const std::unique_ptr<zeus_job> owned{job};
    if (owned != nullptr && owned->attempt) {
      // A recurrence in progress is given up: it has not ended.
      const zeus::Job closed{std::move(owned->job)};
    }
  });
}

zeus_status zeus_job_next_try(zeus_job* job, zeus_job_try* attempt, int* go_on) {
  return with_job(job, [&](zeus_job& it) {
    expect(go_on != nullptr, "the pointer for the answer is null");
    *go_on = 0;
    expect(attempt == nullptr || attempt->size >= sizeof(std::size_t), "the size of zeus_job_try is not set");
    it.attempt.reset();
    it.attempt = it.job.next_try();
    if (it.attempt && attempt != nullptr) {
      give_back(to_c(*it.attempt), attempt);
    }
    *go_on = it.attempt ? 1 : 0;
  });
}

zeus_status zeus_job_get_try(zeus_job* job, zeus_job_try* attempt) {
  return with_try(job, [&](zeus::Try& it) { give_back(to_c(it), attempt); });
}

zeus_status zeus_job_next_epoch(zeus_job* job, int* go_on) {
  return with_try(job, [&](zeus::Try& it) {
    expect(go_on != nullptr, "the pointer for the answer is null");
    *go_on = 0;
    *go_on = it.next_epoch() ? 1 : 0;
  });
}

zeus_status zeus_job_begin_step(zeus_job* job) {
  return with_try(job, [](zeus::Try& it) { it.begin_step(); });
}

zeus_status zeus_job_end_steps(zeus_job* job) {
  return with_try(job, [](zeus::Try& it) { it.end_steps(); });
}

zeus_status zeus_job_report(zeus_job* job, double metric) {
  return with_try(job, [&](zeus::Try& it) { it.report(metric); });
}

zeus_status zeus_job_fail(zeus_job* job) {
  return with_try(job, [](zeus::Try& it) { it.fail(); });
}

zeus_status zeus_job_took(zeus_job* job, double time, double energy, double uncertainty) {
  return with_try(job, [&](zeus::Try& it) {
    std::optional<zeus::Energy> known;
    if (!std::isnan(energy)) {
      known = zeus::Energy{
          .value = zeus::Joules{energy}, .uncertainty = zeus::Joules{uncertainty}, .systematic = std::nullopt};
    }
    it.took(zeus::Seconds{time}, known);
  });
}

zeus_status zeus_job_limits_to_measure(zeus_job* job, double* limits, size_t* count) {
  return with_try(job, [&](zeus::Try& it) {
    expect(count != nullptr && (limits != nullptr || *count == 0), "the pointer for the limits is null");
    const std::vector<zeus::Watts> all = it.limits_to_measure();
    for (std::size_t i = 0; i < std::min(*count, all.size()); ++i) {
      limits[i] = all[i].value();
    }
    *count = all.size();
  });
}

zeus_status zeus_job_measured(zeus_job* job, const zeus_job_limit* limits, size_t count) {
  return with_try(job, [&](zeus::Try& it) {
    std::vector<zeus::LimitProfile> profiles;
    for (const zeus_job_limit& one : numbers(limits, count)) {
      profiles.push_back({.limit = zeus::Watts{one.limit},
                          .epoch_time = zeus::Seconds{one.epoch_time},
                          .average_power = zeus::Watts{one.average_power}});
    }
    it.measured(profiles);
  });
}

zeus_status zeus_job_reached(zeus_job* job, int* reached) {
  return with_job(job, [&](zeus_job& it) {
    expect(reached != nullptr, "the pointer for the answer is null");
    *reached = it.job.reached() ? 1 : 0;
  });
}

zeus_status zeus_job_get_summary(zeus_job* job, zeus_job_summary* summary) {
  return with_job(job, [&](zeus_job& it) { give_back(to_c(it.job.summary()), summary); });
}

}  // extern "C"
