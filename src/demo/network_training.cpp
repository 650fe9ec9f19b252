#include "demo/network_training.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace zeus::demo {

namespace {

constexpr Seconds slice{5.0};
constexpr Seconds to_settle{0.5};
// The relative standard deviation of the time of a step.
constexpr double scatter_of_steps = 0.01;

std::uint32_t steps_for(Seconds time, Seconds step) {
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(time / step)));
}

}  // namespace

NetworkTraining::NetworkTraining(const Bench& bench, const small_network::Course& course,
                                 const small_network::Settings& settings, double eta)
    : bench_{bench},
      work_{epoch_work(bench.model, static_cast<int>(settings.batch_size))},
      training_{course, settings},
      eta_{eta},
      batch_size_{static_cast<int>(settings.batch_size)},
      scatter_{settings.seed, course.seed},
      gpu_{bench.gpu.device.gpu},
      meter_{gpu_, bench.model.sensors.counter_period, bench.clock},
      start_{meter_.mark()} {
  bench_.gpu.load(physics::Load::constant(work_.demand));
}

NetworkTraining::~NetworkTraining() {
  end();
}

void NetworkTraining::end() {
  close();
  bench_.gpu.load(physics::Load::constant(physics::Demand::none()));
}

void NetworkTraining::open(TrainingOptions options) {
  close();
  options.eta = eta_;
  options.profiling.try_clocks = false;
  options.profiling.drift_tolerance = 0;
  options.steps_per_epoch = work_.steps;
  options.batch_size = static_cast<std::uint64_t>(batch_size_);
  options.listener = [this](const TrainingEvent& event) {
    if (const auto* applied = std::get_if<SettingApplied>(&event); applied != nullptr && applied->optimum) {
      limit_ = applied->setting.limit;
    }
    if (const auto* alone = std::get_if<Unoptimized>(&event)) {
      left_alone_ = alone->why;
    }
  };
  train::SessionParts parts{
      .gpus = {{.index = 0, .gpu = bench_.gpu.device.gpu}},
      .meter = std::make_unique<CounterMeter>(gpu_, bench_.model.sensors.counter_period, bench_.clock),
      .acquire = bench_.acquire,
      .clock = bench_.clock};
  session_ = std::make_unique<train::Session>(std::move(parts), options);
}

void NetworkTraining::begin_epoch() {
  session_->begin_epoch();
  if (!left_alone_.empty()) {
    throw Error{ErrorKind::unavailable, fmt::format("the virtual GPU's power limit cannot be set: {}", left_alone_),
                "make the folder for temporary files (TMPDIR) writable"};
  }
}

void NetworkTraining::close() {
  if (session_) {
    session_->finish();
    profile_ = session_->profile();
    session_.reset();
  }
}

void NetworkTraining::hold(Watts limit) {
  if (session_ && !session_->profiling() && limit_ == limit) {
    return;
  }
  limit_ = limit;
  open({});
  session_->hold({.limit = limit, .clock = {}});
  begin_epoch();
}

void NetworkTraining::measure(std::span<const Watts> limits) {
  TrainingOptions options;
  options.profiling.lowest_limit = std::ranges::min(limits);
  options.profiling.highest_limit = std::ranges::max(limits);
  options.profiling.plan =
      SweepProfiling{.settle = steps_for(to_settle, work_.step), .measure = steps_for(slice, work_.step)};
  limit_.reset();
  open(std::move(options));
  begin_epoch();
}

bool NetworkTraining::measuring() const {
  return session_ && session_->profiling();
}

std::vector<records::LimitProfile> NetworkTraining::measured() const {
  std::vector<records::LimitProfile> profiles;
  const std::optional<PowerProfile> known = session_ ? std::optional{session_->profile()} : profile_;
  if (known) {
    for (const PowerMeasurement& one : known->measurements) {
      profiles.push_back({.limit = one.setting.limit,
                          .epoch_time = one.step_time * static_cast<double>(work_.steps),
                          .average_power = one.step_energy.value / one.step_time});
    }
  }
  std::ranges::sort(profiles, {}, &records::LimitProfile::limit);
  return profiles;
}

std::optional<Watts> NetworkTraining::limit() const {
  return limit_;
}

void NetworkTraining::advance() {
  // The network's step is due when its share of the GPU's steps is over. While limits are measured every step of the
  // GPU counts; otherwise only their total does.
  const std::uint64_t due = (real_steps_ + 1) * work_.steps / training_.steps_per_epoch();
  const std::uint64_t chunk = due > steps_ ? (session_->profiling() ? 1 : due - steps_) : 0;
  if (chunk > 0) {
    const double speed = bench_.gpu.operating_point().speed;
    const double scattered = 1.0 + scatter_of_steps / std::sqrt(static_cast<double>(chunk)) * scatter_.normal();
    const Seconds took = work_.step / speed * (static_cast<double>(chunk) * scattered);
    bench_.clock.sleep_until(bench_.clock.now() + took);
    steps_ += chunk;
    session_->progress(chunk);
  }
  if (steps_ == due) {
    training_.step();
    ++real_steps_;
  }
}

bool NetworkTraining::train_until_measured() {
  while (session_->profiling() && real_steps_ < training_.steps_per_epoch()) {
    advance();
  }
  return !session_->profiling();
}

void NetworkTraining::finish_epoch() {
  while (real_steps_ < training_.steps_per_epoch()) {
    advance();
  }
  session_->end_steps();
  accuracy_ = training_.accuracy();
  session_->report(accuracy_);
  ++epochs_;
  session_->end_epoch();
  steps_ = 0;
  real_steps_ = 0;
}

Energy NetworkTraining::energy() const {
  return meter_.between(start_, meter_.mark());
}

Seconds NetworkTraining::time() const {
  return bench_.clock.now() - start_.at;
}

}  // namespace zeus::demo
