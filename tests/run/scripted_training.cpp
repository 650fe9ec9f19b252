#include "tests/run/scripted_training.hpp"

#include <algorithm>
#include <utility>

namespace zeus::truth {

namespace {

constexpr double metric_at_first = 0.5;
constexpr double metric_before_target = 0.89;
constexpr double metric_at_target = 0.91;

}  // namespace

ScriptedTraining::ScriptedTraining(const Script& script, std::size_t arm, Random& draws, Gpu gpu, const Show& show,
                                   Tell tell, Instant began, Instant now)
    : script_{script},
      index_{arm},
      arm_{script.arms.at(arm)},
      draws_{draws},
      gpu_{std::move(gpu)},
      tell_{std::move(tell)},
      epochs_{epochs_of(script_, arm_, draws.normal())},
      shown_{show(script_, arm_, epochs_)},
      at_{now},
      work_at_{gpu_.work()},
      began_{began},
      energy_at_begin_{gpu_.energy(began)} {
  enter(Phase::cold_start);
  left_ -= (now - began) / Seconds{1};
}

void ScriptedTraining::enter(Phase phase) {
  phase_ = phase;
  switch (phase) {
    case Phase::cold_start:
      left_ += script_.start_up.value() * cold_part;
      break;
    case Phase::start_up:
      gpu_.load(physics::Demand::of_power(script_.start_up_power));
      left_ += script_.start_up.value() * (1.0 - cold_part);
      break;
    case Phase::step:
      if (step_ == 0) {
        gpu_.load(arm_.training);
        shown_->begin_epoch(at_);
      }
      left_ += arm_.step.value() * (1.0 + script_.drift * part_of_run()) *
               std::max(0.1, 1.0 + script_.step_scatter * draws_.normal());
      break;
    case Phase::evaluation:
      gpu_.load(arm_.evaluating);
      left_ += arm_.evaluation.value() / std::max(1, script_.evaluation_bar);
      break;
    case Phase::end:
      gpu_.load(physics::Demand::of_power(script_.start_up_power));
      left_ += script_.end.value() * (1.0 - cold_part);
      break;
    case Phase::cold_end:
      gpu_.load(physics::Demand::none());
      left_ += script_.end.value() * cold_part;
      break;
    case Phase::over:
      gpu_.load(physics::Demand::none());
      tell();
      break;
  }
}

double ScriptedTraining::part_of_run() const {
  return (static_cast<double>(epoch_) + static_cast<double>(step_) / arm_.steps) / epochs_;
}

void ScriptedTraining::end_epoch() {
  ++epoch_;
  step_ = 0;
  const double part = static_cast<double>(epoch_) / static_cast<double>(epochs_);
  shown_->end_epoch(epoch_ == epochs_ ? metric_at_target
                                      : metric_at_first + (metric_before_target - metric_at_first) * part);
  if (epoch_ < epochs_) {
    enter(Phase::step);
    return;
  }
  shown_->end();
  if (script_.has_target) {
    tell();
  }
  enter(Phase::end);
}

void ScriptedTraining::leave_phase() {
  switch (phase_) {
    case Phase::cold_start:
      enter(Phase::start_up);
      break;
    case Phase::start_up:
      enter(Phase::step);
      break;
    case Phase::step:
      ++step_;
      shown_->end_step(at_);
      if (step_ < arm_.steps) {
        enter(Phase::step);
        break;
      }
      shown_->end_steps();
      if (arm_.evaluation > Seconds{}) {
        enter(Phase::evaluation);
      } else {
        end_epoch();
      }
      break;
    case Phase::evaluation:
      if (script_.evaluation_bar > 0) {
        shown_->evaluate(++evaluated_, script_.evaluation_bar);
      }
      if (evaluated_ < script_.evaluation_bar) {
        enter(Phase::evaluation);
      } else {
        evaluated_ = 0;
        end_epoch();
      }
      break;
    case Phase::end:
      enter(Phase::cold_end);
      break;
    case Phase::cold_end:
      enter(Phase::over);
      break;
    case Phase::over:
      break;
  }
}

void ScriptedTraining::live(Instant now) {
  const double work = gpu_.work();
  left_ -= works() ? work - work_at_ : (now - at_) / Seconds{1};
  at_ = now;
  work_at_ = work;
  constexpr double nothing = 1e-9;  // clocks count nanoseconds
  while (left_ <= nothing && !is_over()) {
    leave_phase();
  }
}

Instant ScriptedTraining::next() const {
  return std::max(at_ + Seconds{left_ / (works() ? gpu_.speed() : 1.0)}, at_ + Seconds{1e-9});
}

void ScriptedTraining::tell() {
  if (!std::exchange(told_, true)) {
    tell_({.arm = index_,
           .epochs = epoch_,
           .whole = epoch_ == epochs_,
           .cost = {.energy = gpu_.energy(at_) - energy_at_begin_, .time = at_ - began_},
           .late = Seconds{std::max(0.0, -left_)}});
  }
}

void ScriptedTraining::end() {
  if (!is_over()) {
    enter(Phase::over);
  }
}

}  // namespace zeus::truth
