#include "tests/trial/fronts.hpp"

#include <zeus/jobs.h>
#include <zeus/error.hpp>
#include <zeus/job.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

namespace zeus::test {

namespace {

JobDefinition definition_of(const Situation& situation) {
  JobDefinition definition;
  definition.max_epochs = situation.max_epochs;
  definition.eta = eta;
  definition.beta = situation.beta;
  definition.policy = situation.policy;
  if (situation.has_target) {
    definition.target = TrainingTarget{.metric = target_metric};
  }
  if (situation.has_batch_sizes()) {
    for (const Work& work : situation.works) {
      definition.batch_sizes.push_back(work.batch_size);
    }
    definition.default_batch_size = situation.works.front().batch_size;
  }
  return definition;
}

JobOptions options_of_loop(const Stage& stage) {
  JobOptions options;
  options.store = stage.store;
  options.set_limits = stage.situation.sets_limits;
  options.power_limits = stage.situation.limits;
  options.profile_time = stage.situation.profile_time;
  return options;
}

int batch_size_of(const Situation& situation, int batch_size) {
  return situation.has_batch_sizes() ? batch_size : situation.works.front().batch_size;
}

struct LoopFails final : std::runtime_error {
  LoopFails() : std::runtime_error{"out of memory"} {}
};

// Returns false if its user stops it.
bool train(Stage& stage, Try& attempt) {
  PlayedTraining training{stage, batch_size_of(stage.situation, attempt.batch_size())};
  while (attempt.next_epoch()) {
    for (int step = 0; step < training.steps(); ++step) {
      switch (training.due()) {
        case Mishap::fails:
          training.end();
          throw LoopFails{};
        case Mishap::stopped:
          return false;
        default:
          break;
      }
      if (stage.situation.shows_steps) {
        attempt.begin_step();
      }
      training.step();
    }
    attempt.end_steps();
    attempt.report(training.evaluate());
  }
  return true;
}

void expect_ok(zeus_status status) {
  if (status != ZEUS_OK) {
    throw std::runtime_error{zeus_last_error()};
  }
}

bool train_in_c(Stage& stage, zeus_job* job, int batch_size) {
  PlayedTraining training{stage, batch_size_of(stage.situation, batch_size)};
  int go_on = 0;
  for (expect_ok(zeus_job_next_epoch(job, &go_on)); go_on != 0; expect_ok(zeus_job_next_epoch(job, &go_on))) {
    for (int step = 0; step < training.steps(); ++step) {
      switch (training.due()) {
        case Mishap::fails:
          training.end();
          expect_ok(zeus_job_fail(job));
          return true;
        case Mishap::stopped:
          return false;
        default:
          break;
      }
      if (stage.situation.shows_steps) {
        expect_ok(zeus_job_begin_step(job));
      }
      training.step();
    }
    expect_ok(zeus_job_end_steps(job));
    expect_ok(zeus_job_report(job, training.evaluate()));
  }
  return true;
}

}  // namespace

void recur_as_loop(Stage& stage) {
  std::optional<Job> job{std::in_place, "job", definition_of(stage.situation), options_of_loop(stage)};
  for (bool over = false; !over;) {
    try {
      std::optional<Try> attempt = job->next_try();
      over = !attempt || !train(stage, *attempt);
      if (attempt && over) {
        job.reset();
      }
    } catch (const LoopFails&) {
      continue;  // as a program that tries again with less memory would
    }
  }
}

void recur_as_c_loop(Stage& stage) {
  const Situation& situation = stage.situation;
  std::vector<int> batch_sizes;
  for (const Work& work : situation.works) {
    batch_sizes.push_back(work.batch_size);
  }
  std::vector<double> limits;
  for (const Watts limit : situation.limits) {
    limits.push_back(limit.value());
  }
  const std::string store = stage.store.string();
  zeus_job_definition definition{};
  definition.size = sizeof definition;
  definition.max_epochs = situation.max_epochs;
  definition.eta = &eta;
  definition.beta = &situation.beta;
  definition.policy = situation.policy;
  definition.target = situation.has_target ? &target_metric : nullptr;
  if (situation.has_batch_sizes()) {
    definition.batch_sizes = batch_sizes.data();
    definition.batch_size_count = batch_sizes.size();
    definition.default_batch_size = batch_sizes.front();
  }
  zeus_job_options options{};
  options.size = sizeof options;
  options.store = store.c_str();
  options.leave_limits = situation.sets_limits ? 0 : 1;
  options.limits = limits.data();
  options.limit_count = limits.size();
  options.profile_time = situation.profile_time.value();

  zeus_job* job = nullptr;
  expect_ok(zeus_job_open("job", &definition, &options, &job));
  zeus_job_try attempt{};
  attempt.size = sizeof attempt;
  int go_on = 0;
  for (expect_ok(zeus_job_next_try(job, &attempt, &go_on)); go_on != 0;
       expect_ok(zeus_job_next_try(job, &attempt, &go_on))) {
    if (!train_in_c(stage, job, attempt.batch_size)) {
      break;
    }
  }
  zeus_job_close(job);
}

}  // namespace zeus::test
