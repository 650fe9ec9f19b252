#include "optimize/recurrence/recurrence_machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::optimize {

using records::TryOutcome;

RecurrenceMachine::Actions RecurrenceMachine::on(const Event& event) {
  Actions actions;
  std::visit([&](const auto& one) { take(one, actions); }, event);
  return actions;
}

void RecurrenceMachine::prepare(int batch_size, std::uint64_t seed, Actions& actions) {
  if (training_ && training_->batch_size != batch_size) {
    actions.emplace_back(Abandon{.batch_size = training_->batch_size});
    training_.reset();
  }
  if (!training_) {
    actions.emplace_back(Start{.batch_size = batch_size, .seed = seed});
    training_ = Training{.batch_size = batch_size, .costs = {}, .metric = {}, .outcome = {}};
  }
}

void RecurrenceMachine::judge_by(std::optional<int> max_epochs, std::optional<Joules> budget, Joules cost,
                                 std::optional<Joules> next) {
  judgement_ = {.target = terms_.target,
                // Without a target, the training's own end decides, however many epochs that takes.
                .max_epochs = terms_.target ? std::optional{max_epochs.value_or(terms_.max_epochs)} : std::nullopt,
                .job_epochs = terms_.max_epochs,
                .budget = training_->stood_still ? std::nullopt : budget};
  if (training_->metric && judgement_.reaches(*training_->metric)) {
    decide(TryOutcome::reached);
  } else {
    decide(judgement_.after_epoch(training_->costs.epochs, cost, next));
  }
}

void RecurrenceMachine::decide(std::optional<TryOutcome> outcome) {
  if (!training_->outcome) {
    training_->outcome = outcome;
  }
}

void RecurrenceMachine::settle(Actions& actions) {
  if (!training_->outcome) {
    return;
  }
  if (std::exchange(wants_limits_, false)) {
    actions.emplace_back(RecordLimits{});
  }
  const TryOutcome outcome = *training_->outcome;
  if (std::exchange(phase_, Phase::asking) == Phase::measuring) {
    actions.emplace_back(outcome == TryOutcome::reached ? Action{Claim{}} : Action{Ask{}});
    return;
  }
  actions.emplace_back(Conclude{.outcome = outcome});
  if (outcome != TryOutcome::reached && outcome != TryOutcome::lost) {
    actions.emplace_back(Stop{});
    return;
  }
  actions.emplace_back(SeeThrough{.reached = outcome == TryOutcome::reached});
  if (outcome == TryOutcome::lost) {
    actions.emplace_back(GiveUp{.why = Why::ended});
  }
  actions.emplace_back(Done{});
}

void RecurrenceMachine::take(const ProfileWanted& wanted, Actions& actions) {
  prepare(wanted.asked.batch_size, wanted.seed, actions);
  phase_ = Phase::measuring;
  judge_by({}, {}, {}, {});
  if (is_open()) {
    wants_limits_ = true;
    actions.emplace_back(Measure{.limits = wanted.asked.limits});
  }
  settle(actions);
}

void RecurrenceMachine::take(const TryWanted& wanted, Actions& actions) {
  prepare(wanted.plan.batch_size, wanted.seed, actions);
  phase_ = Phase::trying;
  judge_by(wanted.plan.max_epochs, wanted.plan.budget, wanted.cost, wanted.next);
  if (is_open()) {
    wants_limits_ = !wanted.plan.limit && !wanted.not_measured.empty();
    if (wants_limits_) {
      actions.emplace_back(Measure{.limits = wanted.not_measured});
    } else {
      actions.emplace_back(Hold{.limit = wanted.plan.limit});
    }
  }
  settle(actions);
}

void RecurrenceMachine::take(const EpochOver& over, Actions& actions) {
  // Its metric arrived before, as MetricSeen.
  const auto outcome = judgement_.after_report(training_->costs, over.epochs, over.cost, {}, over.next);
  if (is_open()) {
    decide(outcome);
    settle(actions);
  }
}

void RecurrenceMachine::take(const MetricSeen& seen, Actions& actions) {
  if (std::isfinite(seen.value)) {
    training_->metric = seen.value;
  }
  const bool open = is_open();
  if (judgement_.reaches(seen.value)) {
    decide(TryOutcome::reached);
  }
  if (open) {
    settle(actions);
  }
}

void RecurrenceMachine::take(const CostSeen& seen, Actions& actions) {
  if (is_open()) {
    decide(judgement_.meanwhile(seen.cost));
    settle(actions);
  }
}

void RecurrenceMachine::take(const LimitsMeasured& measured, Actions& actions) {
  if (!std::exchange(wants_limits_, false)) {
    return;
  }
  if (phase_ == Phase::measuring) {
    if (!measured.left_alone) {
      actions.emplace_back(RecordLimits{});
    }
    phase_ = Phase::asking;
    actions.emplace_back(Ask{});
  } else if (measured.any) {
    actions.insert(actions.end(), {RecordLimits{}, Hold{.limit = {}}});
  }
}

void RecurrenceMachine::take(const StoodStill& /*stood*/, Actions& /*actions*/) {
  training_->stood_still = true;
  judgement_.budget.reset();
}

void RecurrenceMachine::take(const Ended& ended, Actions& actions) {
  if (!is_open()) {
    return;
  }
  const bool failed = ended.crashed || ended.interrupted;
  const bool is_default = training_->batch_size == terms_.default_batch_size;
  decide(ended.crashed && !ended.interrupted ? outcome_of_crash(is_default, ended.has_worked, ended.others_have_worked)
                                             : judgement_.at_end(failed, training_->metric.has_value()));
  settle(actions);
}

void RecurrenceMachine::take(const Stopped& stopped, Actions& actions) {
  training_.reset();
  if (stopped.interrupted) {
    actions.insert(actions.end(), {GiveUp{.why = Why::interrupted}, Done{}});
  } else {
    actions.emplace_back(Ask{});
  }
}

}  // namespace zeus::optimize
