#include "trial/trial.hpp"

#include "optimize/recurrence/judgement.hpp"

#include <utility>
#include <variant>

namespace zeus::trial {

namespace {

// By this many reports of steps the start of a training is known.
constexpr int reports_of_a_start = 2;
constexpr Seconds between_signs{60};

}  // namespace

void Trial::start(int batch_size, std::uint64_t seed) {
  series_ = {};
  progress_ = {};
  events_.clear();
  reached_ = false;
  step_reports_ = 0;
  ended_ = false;
  epochs_seen_ = 0;
  instruments_.begin();
  source_.start(batch_size, seed);
  stood_still_ = source_.state().stood_still;
  stayed_ = clock_.now();
}

void Trial::notice_standstill() {
  const Seconds still = source_.state().stood_still;
  if (still > std::exchange(stood_still_, still)) {
    instruments_.measure_again();
    progress_.stood_still();
  }
}

void Trial::take(const Progress& seen) {
  notice_standstill();
  Progress progress = seen;
  if (const auto* steps = std::get_if<StepsDone>(&seen)) {
    const std::optional<StepsDone> own = series_.take(*steps, clock_.now());
    if (!own) {
      return;
    }
    progress = *own;
  }
  // The try's costs end here, however long the next decision and its record take.
  const auto* metric = std::get_if<trial::MetricSeen>(&progress);
  if (metric != nullptr && optimize::Judgement{.target = target_}.reaches(metric->value)) {
    reached_ = true;
    (void)instruments_.close();
  }
  progress_.take(progress, clock_.now());
  instruments_.take(progress);
  if (std::holds_alternative<EpochsDone>(progress)) {
    events_.emplace_back(EpochOver{.epochs = progress_.epochs()});
  } else if (metric != nullptr) {
    events_.emplace_back(MetricSeen{.value = metric->value});
  } else if (std::get<StepsDone>(progress).count > 0 && step_reports_ < reports_of_a_start) {
    ++step_reports_;
    events_.emplace_back(StepsSeen{});
  }
}

std::vector<jobs::Try::Event> Trial::go_on() {
  for (const Progress& progress : source_.go_on()) {
    take(progress);
  }
  notice_standstill();
  if (const Instant now = clock_.now(); now - stayed_ >= between_signs) {
    stayed_ = now;
    instruments_.stay();
  }
  if (source_.state().exit_code) {
    end();
  }
  return std::exchange(events_, {});
}

void Trial::end() {
  if (std::exchange(ended_, true)) {
    return;
  }
  notice_standstill();
  (void)instruments_.close();
  epochs_seen_ = progress_.epochs();
  // A training without any visible epoch counts as one epoch.
  if (epochs_seen_ == 0 && source_.state().exit_code == 0) {
    progress_.take(EpochsDone{}, clock_.now());
  }
}

jobs::Try::State Trial::state() {
  const Source::State training = source_.state();
  const Instruments::State limits = instruments_.state();
  return {.epochs = progress_.epochs(),
          .metric = progress_.metric(),
          .exit_code = training.exit_code,
          .interrupted = training.interrupted,
          .stood_still = training.stood_still,
          .measuring = limits.measuring,
          .disturbed = limits.disturbed,
          .left_alone = limits.left_alone,
          .limit = limits.limit,
          .found = limits.found,
          .beside_steps = progress_.part_beside_steps()};
}

std::vector<records::LimitProfile> Trial::measured() {
  return instruments_.measured(progress_.shape());
}

}  // namespace zeus::trial
