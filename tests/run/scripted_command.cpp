#include "tests/run/scripted_command.hpp"

#include <algorithm>
#include <utility>

namespace zeus::truth {

namespace {

constexpr double metric_at_first = 0.5;
constexpr double metric_before_target = 0.89;
constexpr double metric_at_target = 0.91;
constexpr int ended_by_signal = 143;

}  // namespace

ScriptedCommand::ScriptedCommand(const Script& script, std::size_t arm, const run::PatternTexts& patterns,
                                 backends::virtual_gpu::VirtualGpu& gpu, test::SteppedClock& clock, Random& draws,
                                 Tell tell)
    : script_{script},
      index_{arm},
      arm_{script.arms.at(arm)},
      gpu_{gpu},
      clock_{clock},
      draws_{draws},
      tell_{std::move(tell)},
      epochs_{epochs_of(script_, arm_, draws.normal())},
      heard_{patterns},
      printer_{script_, arm_, epochs_,
               [this](std::size_t stream, std::string_view bytes) { heard_.hear(stream, bytes); }},
      at_{clock.now()},
      began_{clock.now()},
      energy_at_begin_{gpu.true_energy(clock.now())} {
  enter(Phase::cold_start);
  clock_.set_world([this] { return live(); });
}

ScriptedCommand::~ScriptedCommand() {
  end();
  clock_.set_world({});
}

void ScriptedCommand::load(const physics::Demand& demand) {
  gpu_.set_load(physics::Load::constant(demand));
}

void ScriptedCommand::enter(Phase phase) {
  phase_ = phase;
  switch (phase) {
    case Phase::cold_start:
      left_ = script_.start_up.value() * cold_part;
      break;
    case Phase::start_up:
      load(physics::Demand::of_power(script_.start_up_power));
      left_ = script_.start_up.value() * (1.0 - cold_part);
      break;
    case Phase::step:
      if (step_ == 0) {
        load(arm_.training);
        printer_.begin_epoch(at_);
      }
      left_ = arm_.step.value() * std::max(0.1, 1.0 + script_.step_scatter * draws_.normal());
      break;
    case Phase::evaluation:
      load(arm_.evaluating);
      left_ = arm_.evaluation.value();
      break;
    case Phase::end:
      load(physics::Demand::of_power(script_.start_up_power));
      left_ = script_.end.value() * (1.0 - cold_part);
      break;
    case Phase::cold_end:
      load(physics::Demand::none());
      left_ = script_.end.value() * cold_part;
      break;
    case Phase::over:
      break;
  }
}

void ScriptedCommand::end_epoch() {
  ++epoch_;
  step_ = 0;
  const double part = static_cast<double>(epoch_) / static_cast<double>(epochs_);
  printer_.end_epoch(epoch_ == epochs_ ? metric_at_target
                                       : metric_at_first + (metric_before_target - metric_at_first) * part);
  if (epoch_ < epochs_) {
    enter(Phase::step);
    return;
  }
  printer_.end();
  if (script_.has_target) {
    tell();
  }
  enter(Phase::end);
}

void ScriptedCommand::leave_phase() {
  switch (phase_) {
    case Phase::cold_start:
      enter(Phase::start_up);
      break;
    case Phase::start_up:
      enter(Phase::step);
      break;
    case Phase::step:
      ++step_;
      printer_.end_step(at_);
      if (step_ < arm_.steps) {
        enter(Phase::step);
        break;
      }
      printer_.end_steps();
      if (arm_.evaluation > Seconds{}) {
        enter(Phase::evaluation);
      } else {
        end_epoch();
      }
      break;
    case Phase::evaluation:
      end_epoch();
      break;
    case Phase::end:
      enter(Phase::cold_end);
      break;
    case Phase::cold_end:
      exit(0);
      break;
    case Phase::over:
      break;
  }
}

// Limits change between two calls only, where time stands still.
std::optional<Instant> ScriptedCommand::live() {
  const Instant now = clock_.now();
  left_ -= (now - at_) * speed_ / Seconds{1};
  at_ = now;
  constexpr double nothing = 1e-9;  // clocks count nanoseconds
  while (left_ <= nothing && phase_ != Phase::over) {
    leave_phase();
  }
  if (phase_ == Phase::over) {
    return std::nullopt;
  }
  const bool works = phase_ == Phase::step || phase_ == Phase::evaluation;
  speed_ = works ? gpu_.operating_point().speed : 1.0;
  return std::max(at_ + Seconds{left_ / speed_}, at_ + Seconds{1e-9});
}

void ScriptedCommand::tell() {
  if (!std::exchange(told_, true)) {
    tell_({.arm = index_,
           .epochs = epoch_,
           .whole = epoch_ == epochs_,
           .cost = {.energy = gpu_.true_energy(at_) - energy_at_begin_, .time = at_ - began_}});
  }
}

void ScriptedCommand::exit(int code) {
  phase_ = Phase::over;
  code_ = code;
  load(physics::Demand::none());
  heard_.finish();
  tell();
}

std::vector<run::Progress> ScriptedCommand::wait(Seconds patience) {
  const Instant deadline = clock_.now() + patience;
  while (!code_ && !heard_.any() && clock_.now() < deadline) {
    const std::optional<Instant> next = live();
    if (next && !heard_.any()) {
      clock_.sleep_until(std::min(*next, deadline));
      (void)live();
    }
  }
  return heard_.take();
}

void ScriptedCommand::end() {
  if (!code_) {
    told_to_end_ = true;
    (void)live();
    exit(ended_by_signal);
  }
}

}  // namespace zeus::truth
