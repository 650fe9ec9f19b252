#include "job_library/loop_try.hpp"

#include "optimize/recurrence/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::job_library {

namespace {

// Reports of steps that are needed to know the start.
constexpr int first_words = 2;

}  // namespace

void LoopTry::set_terms(const std::optional<records::JobTarget>& target, int max_epochs) {
  target_ = target;
  max_epochs_ = max_epochs;
}

void LoopTry::start(int batch_size, std::uint64_t seed) {
  ++trainings_;
  batch_size_ = batch_size;
  seed_ = seed;
  epochs_ = 0;
  metric_.reset();
  exit_code_.reset();
  told_to_end_ = false;
  reached_ = false;
  events_.clear();
  in_epoch_ = false;
  in_step_ = false;
  step_reports_ = 0;
  steps_ = 0;
  shape_.reset();
  last_beside_steps_ = 0.0;
  instruments_.begin();
}

void LoopTry::measure(const std::vector<Watts>& limits, const Known& known) {
  instruments_.measure(limits, known);
}

std::vector<jobs::Try::Event> LoopTry::go_on() {
  return std::exchange(events_, {});
}

jobs::Try::State LoopTry::state() {
  const Instruments::State now = instruments_.state();
  return {.epochs = epochs_,
          .metric = metric_,
          .exit_code = exit_code_,
          .stood_still = now.stood_still,
          .measuring = now.measuring,
          .disturbed = now.disturbed,
          .left_alone = now.left_alone,
          .limit = now.limit,
          .found = now.found,
          .beside_steps = epochs_ > 0 ? std::optional{last_beside_steps_ / (1.0 + last_beside_steps_)} : std::nullopt};
}

void LoopTry::begin_step() {
  if (over()) {
    return;
  }
  in_epoch_ = true;
  step_is_over();
  const Instant now = clock_.now();
  first_step_ = steps_ == 0 ? now : first_step_;
  in_step_ = true;
  instruments_.begin_step();
}

// A step lasts until the next one begins, so it includes its data loading.
void LoopTry::step_is_over() {
  if (std::exchange(in_step_, false)) {
    ++steps_;
    if (step_reports_ < first_words) {
      ++step_reports_;
      events_.emplace_back(StepsSeen{});
    }
  }
}

void LoopTry::end_steps() {
  if (over() || !in_step_) {
    return;
  }
  last_step_ = clock_.now();
  step_is_over();
  instruments_.end_steps();
}

void LoopTry::report(double metric) {
  if (over()) {
    return;
  }
  // The account of a try ends here, however long it takes to decide and record what follows.
  if (target_ && optimize::Judgement{.target = target_}.reaches(metric)) {
    (void)instruments_.close();
    reached_ = true;
  }
  if (std::isfinite(metric)) {
    metric_ = metric;
  }
  events_.emplace_back(MetricSeen{.value = metric});
}

void LoopTry::end_epoch() {
  if (over() || !in_epoch_) {
    return;
  }
  end_steps();
  if (steps_ > 0) {
    const Seconds trained = last_step_ - first_step_;
    const Seconds tail = clock_.now() - last_step_;
    last_beside_steps_ = trained > Seconds{} ? std::clamp(tail / trained, 0.0, 1.0) : 0.0;
    if (!shape_) {
      shape_ = {.steps = static_cast<double>(steps_), .beside_steps = last_beside_steps_};
    }
  }
  steps_ = 0;
  in_epoch_ = false;
  instruments_.end_epoch();
  ++epochs_;
  events_.emplace_back(EpochOver{.epochs = epochs_});
  // Without a target, the end of the training counts.
  if (!target_ && epochs_ >= max_epochs_) {
    end(0);
  }
}

void LoopTry::end(int exit_code) {
  if (exit_code_) {
    return;
  }
  if (exit_code == 0) {
    end_epoch();
    if (exit_code_) {
      return;
    }
  }
  (void)instruments_.close();
  exit_code_ = exit_code;
  // A training that reports no epochs is one epoch.
  if (epochs_ == 0 && exit_code == 0) {
    epochs_ = 1;
  }
}

}  // namespace zeus::job_library
