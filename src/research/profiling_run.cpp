#include "research/profiling_run.hpp"

#include "base/clock.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "physics/controls.hpp"
#include "physics/gpu.hpp"
#include "physics/operating_point.hpp"
#include "physics/sensors.hpp"

#include <algorithm>
#include <memory>

namespace zeus::research {

namespace {

using optimize::ProfilerActionKind;
using optimize::ProfilerActions;

physics::Controls controls_for(const physics::GpuModel& gpu, const records::PowerSetting& setting) {
  physics::Controls controls = physics::Controls::defaults(gpu);
  controls.requested_limit = setting.limit;
  if (setting.clock) {
    controls.clocks_locked = true;
    controls.lock_min = gpu.clocks.min;
    controls.lock_max = *setting.clock;
  }
  return controls;
}

class VirtualTraining {
 public:
  VirtualTraining(const TrainingLoad& load, const Disturbance& disturbance, std::uint64_t seed)
      : load_{load},
        disturbance_{disturbance},
        state_{std::make_unique<physics::GpuState>()},
        gpu_{*load.gpu, *state_},
        sensors_{gpu_},
        random_{seed} {
    gpu_.start(now_);
    gpu_.set_load(now_, physics::Load::constant(load.demand));
  }

  void step() {
    const physics::OperatingPoint point = gpu_.operating_point(now_);
    const double warmth = 1.0 - disturbance_.drift * portable::exp(-(now_ - Instant{}) / disturbance_.warm_after);
    const double slower = 1.0 + disturbance_.scatter * random_.normal();
    const double hungrier = 1.0 + disturbance_.scatter * random_.normal();
    const Seconds expected = load_.step / point.speed * warmth;
    const Seconds took = expected * std::max(slower, 0.1);
    const Instant end = now_ + took;
    const Joules energy = point.power * expected * std::max(hungrier, 0.1);
    // The counter only has the model's energy; the scatter's part is added to its readings.
    unseen_ += energy - (gpu_.energy(end) - gpu_.energy(now_));
    energy_ += energy;
    now_ = end;
    if (gpu_.needs_advance(now_)) {
      gpu_.advance(now_);
    }
  }

  void set(const records::PowerSetting& setting) {
    const Instant in_force = now_ + disturbance_.limit_latency;
    energy_ += gpu_.energy(in_force) - gpu_.energy(now_);
    now_ = in_force;
    gpu_.set_controls(now_, controls_for(*load_.gpu, setting));
  }

  void open_window() { opened_ = reading(); }

  [[nodiscard]] optimize::SliceReading close_window() const {
    const Reading closed = reading();
    const Seconds time = closed.at - opened_.at;
    const Seconds seen = closed.updated - opened_.updated;
    const Watts power =
        seen > Seconds{0} ? (closed.counted - opened_.counted) / seen : gpu_.operating_point(now_).power;
    const Joules energy = power * time + (closed.unseen - opened_.unseen);
    // Each edge lies somewhere within a tick. That tick's own power is unknown; only that of the ticks between is
    // known.
    const Joules edges = power * std::min(tick() * 0.2, time);
    return {.time = time,
            .time_uncertainty = Seconds{1e-5},
            .energy = {.value = energy,
                       .uncertainty = edges,
                       .systematic = std::nullopt,
                       .method = records::EnergyMethod::counter},
            .capped = std::clamp((closed.capped - opened_.capped) / time, 0.0, 1.0)};
  }

  [[nodiscard]] Seconds elapsed() const { return now_ - Instant{}; }
  [[nodiscard]] Joules energy() const { return energy_; }

 private:
  struct Reading {
    Instant at;
    Instant updated;
    Joules counted;
    Joules unseen;
    Seconds capped;
  };

  [[nodiscard]] Seconds tick() const { return load_.gpu->sensors.counter_period; }
  [[nodiscard]] Reading reading() const {
    const auto counter = sensors_.counter(now_);
    const physics::Totals totals = gpu_.totals(now_);
    return {.at = now_,
            .updated = counter ? counter->updated : now_,
            .counted = counter ? counter->value : totals.energy,
            .unseen = unseen_,
            .capped = totals.capped};
  }

  const TrainingLoad& load_;
  const Disturbance& disturbance_;
  std::unique_ptr<physics::GpuState> state_;
  physics::Gpu gpu_;
  physics::Sensors sensors_;
  Random random_;
  Instant now_{};
  Joules energy_;
  Joules unseen_;
  Reading opened_;
};

void carry_out(VirtualTraining& training, optimize::Profiler& profiler, ProfilerActions actions) {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    switch (actions[i].kind) {
      case ProfilerActionKind::set:
      case ProfilerActionKind::apply_optimum:
        training.set(actions[i].setting);
        break;
      case ProfilerActionKind::open_window:
        training.open_window();
        break;
      case ProfilerActionKind::close_window: {
        const ProfilerActions next = profiler.on_slice(training.close_window());
        actions.insert(actions.end(), next.begin(), next.end());
        break;
      }
      case ProfilerActionKind::cancel_window:
        break;
    }
  }
}

}  // namespace

ProfilingOutcome run_profiling(const TrainingLoad& load, optimize::Profiler& profiler, const Disturbance& disturbance,
                               std::uint64_t seed, std::uint64_t most_steps) {
  VirtualTraining training{load, disturbance, seed};
  carry_out(training, profiler, profiler.on_start());
  for (std::uint64_t step = 0; step < most_steps && !profiler.done(); ++step) {
    if (step > 0 && step % load.steps_per_epoch == 0) {
      carry_out(training, profiler, profiler.on_epoch_end());
    }
    carry_out(training, profiler, profiler.on_step_begin());
    if (!profiler.done()) {
      training.step();
    }
  }
  return {.optimum = profiler.optimum(),
          .steps = profiler.steps(),
          .time = training.elapsed(),
          .energy = training.energy()};
}

records::LimitProfile settled_step(const TrainingLoad& load, const records::PowerSetting& setting) {
  const physics::Controls controls = controls_for(*load.gpu, setting);
  const physics::ThermalModel& thermal = load.gpu->thermal;
  physics::OperatingPoint point;
  Celsius temperature = thermal.ambient;
  for (int i = 0; i < 60; ++i) {
    point = physics::settle(*load.gpu, controls, load.demand, temperature);
    temperature = thermal.ambient + Kelvins{thermal.kelvins_per_watt * point.power.value()};
  }
  return {.limit = setting.limit, .epoch_time = load.step / point.speed, .average_power = point.power};
}

}  // namespace zeus::research
