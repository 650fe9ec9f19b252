#include "run/attempt.hpp"

#include <algorithm>
#include <utility>

namespace zeus::run {

namespace {

// How often the cost is looked at where no epoch ends.
constexpr Seconds between_looks{2};
constexpr Seconds between_signs{60};

}  // namespace

Attempt::Attempt(const WatchedCommand::Plan& plan, TrainingGpus& gpus, PowerTuning& tuning, Cost cost, Clock& clock)
    : clock_{clock},
      tuning_{tuning},
      cost_{std::move(cost)},
      account_{gpus.monitor(), [&gpus](int number) { return gpus.uuid(number); }},
      command_{plan, clock},
      looked_{clock.now()},
      stayed_{looked_} {
  tuning_.begin_command();
}

void Attempt::judge_by(const StopRule& rule) {
  rule_ = rule;
  if (was_stopped()) {
    rule_.budget.reset();
  }
  judged_ = true;
  if (!is_decided() && rule_.target && progress_.metric() && rule_.reaches(*progress_.metric())) {
    decide(Verdict::reached);
  } else if (!is_decided()) {
    decide(rule_.after_epoch(progress_.epochs(), cost_so_far(), {}));
  }
}

Joules Attempt::cost_so_far() {
  const EnergyAccount::Taken& so_far = account_.look();
  looked_ = clock_.now();
  return cost_(so_far.energy(), so_far.time);
}

void Attempt::decide(Verdict verdict) {
  if (verdict != Verdict::go_on && verdict_ == Verdict::go_on) {
    verdict_ = verdict;
    taken_ = account_.close();
  }
}

void Attempt::end_epoch() {
  if (!judged_ || is_decided()) {
    return;
  }
  const Joules cost = cost_so_far();
  // The first epoch has the start of the command in it, and all those in which limits are tried are dearer.
  if (progress_.epochs() > 1) {
    next_epoch_ = std::min(next_epoch_.value_or(cost - cost_at_epoch_), cost - cost_at_epoch_);
  }
  cost_at_epoch_ = cost;
  decide(rule_.after_epoch(progress_.epochs(), cost, next_epoch_));
}

void Attempt::take(const Progress& progress) {
  progress_.take(progress, clock_.now());
  tuning_.take(progress);
  if (std::holds_alternative<EpochsDone>(progress)) {
    end_epoch();
  } else if (const auto* metric = std::get_if<MetricSeen>(&progress)) {
    // Also where the command ended with it.
    if (judged_ && verdict_ == Verdict::go_on && rule_.reaches(metric->value)) {
      decide(Verdict::reached);
    }
  }
}

void Attempt::go_on(Seconds patience) {
  const std::vector<Progress> all = command_.wait(patience);
  if (command_.times_stopped() != times_stopped_) {
    times_stopped_ = command_.times_stopped();
    // What it took is not its own any more, and must not end it.
    rule_.budget.reset();
    tuning_.forget_what_is_measured();
  }
  for (const Progress& progress : all) {
    take(progress);
  }
  const Instant now = clock_.now();
  if (now - stayed_ >= between_signs) {
    stayed_ = now;
    tuning_.stay();
  }
  if (judged_ && !is_decided() && rule_.budget && now - looked_ >= between_looks) {
    decide(rule_.meanwhile(cost_so_far()));
  }
  if (has_ended() && !taken_) {
    taken_ = account_.close();
    // A job whose epochs nobody sees is one epoch.
    if (progress_.epochs() == 0 && command_.exit_code() == 0) {
      progress_.take(EpochsDone{}, now);
    }
  }
}

records::TryOutcome Attempt::outcome() {
  using records::TryOutcome;
  switch (verdict_) {
    case Verdict::reached:
      return TryOutcome::reached;
    case Verdict::exhausted:
      return TryOutcome::exhausted;
    case Verdict::too_dear:
      return TryOutcome::stopped;
    case Verdict::go_on:
      break;
  }
  if (command_.exit_code() != 0 || command_.interrupted()) {
    return TryOutcome::lost;
  }
  if (!rule_.target) {
    return TryOutcome::reached;
  }
  // It went its whole way, and was seen to be short of the target; or was not seen at all.
  return progress_.metric() ? TryOutcome::exhausted : TryOutcome::lost;
}

}  // namespace zeus::run
