#include "tests/trial/situation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::test {

namespace {

constexpr Seconds late_by{0.8};

void load(VirtualMachine& machine, const physics::Demand& demand) {
  for (std::size_t gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    machine.gpu(gpu).set_load(physics::Load::constant(demand));
  }
}

}  // namespace

PlayedTraining::PlayedTraining(Stage& stage, int batch_size)
    : stage_{stage},
      work_{*std::ranges::find(stage.situation.works, batch_size, &Work::batch_size)},
      has_mishap_{stage.trained.empty() &&
                  stage.night == (stage.situation.of_night > 0 ? stage.situation.of_night : stage.situation.nights)},
      energy_{stage.machine.true_energy()},
      began_{stage.machine.clock().now()} {
  stage_.trained.emplace_back();
  load(stage_.machine, stage_.situation.demand);
}

Mishap PlayedTraining::due() {
  const bool now = has_mishap_ && epochs_ + 1 == stage_.situation.in_epoch && steps_ == work_.steps / 2;
  if (!now) {
    return Mishap::none;
  }
  has_mishap_ = false;
  VirtualMachine& machine = stage_.machine;
  switch (stage_.situation.mishap) {
    case Mishap::limits_refused:
      machine.gpu().set_faults({.reading = {}, .setting = Reason::unknown, .ceiling = {}, .slowness = {}});
      break;
    case Mishap::gpu_lost:
      machine.gpu().set_faults({.reading = Reason::lost, .setting = Reason::lost, .ceiling = {}, .slowness = {}});
      break;
    case Mishap::counter_reset:
      machine.gpu().reset_counter();
      break;
    case Mishap::late:
      machine.stand_still(late_by);
      break;
    case Mishap::suspended:
      load(machine, physics::Demand::none());
      machine.stand_still(suspended_for);
      stood_still_ = suspended_for;
      load(machine, stage_.situation.demand);
      break;
    case Mishap::none:
    case Mishap::fails:
    case Mishap::stopped:
      break;
  }
  return stage_.situation.mishap;
}

// A limit only changes between two calls, while time stands still.
void PlayedTraining::pass(Seconds work) {
  VirtualMachine& machine = stage_.machine;
  const Seconds end = machine.gpu().truth().work + work;
  constexpr Seconds nothing{1e-9};  // clocks count nanoseconds
  for (Seconds left = work; left > nothing; left = end - machine.gpu().truth().work) {
    machine.pass(std::max(left / machine.gpu().operating_point().speed, nothing));
  }
}

void PlayedTraining::step() {
  pass(work_.step);
  ++steps_;
}

double PlayedTraining::evaluate() {
  pass(work_.evaluation);
  steps_ = 0;
  ++epochs_;
  const bool reached = work_.epochs > 0 && epochs_ >= work_.epochs;
  if ((reached && stage_.situation.has_target) || epochs_ == stage_.situation.max_epochs) {
    note_cost();
  }
  const bool is_nan = stage_.situation.nan_in_odd_epochs && epochs_ % 2 == 1;
  return reached ? 0.95 : is_nan ? std::numeric_limits<double>::quiet_NaN() : 0.5;
}

void PlayedTraining::note_cost() {
  if (!std::exchange(noted_, true)) {
    stage_.trained.back() = {.energy = stage_.machine.true_energy() - energy_,
                             .time = stage_.machine.clock().now() - began_ - stood_still_};
  }
}

void PlayedTraining::end() {
  if (!std::exchange(ended_, true)) {
    note_cost();
    load(stage_.machine, physics::Demand::none());
  }
}

}  // namespace zeus::test
