#include "tests/run/truth_script.hpp"

#include "base/random.hpp"
#include "physics/controls.hpp"
#include "physics/operating_point.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zeus::truth {

namespace {

constexpr int most_lines = 150;  // of an epoch
constexpr Seconds shortest_step{0.001};

class Writer {
 public:
  Writer(std::uint64_t seed, const Population& population) : draws_{seed}, population_{population} {
    script_.seed = seed;
  }

  Script write() {
    // The same seed gives the same script in every population: all draws are always made.
    script_.gpu = steady(physics::preset(below(2) == 0 ? "V100" : "A100"));
    script_.gpu.sensors.phase = script_.gpu.sensors.counter_period * Random{script_.seed, 3}.uniform();
    script_.chooses_batch_size = script_.seed % 2 == 1 && !population_.changes;
    script_.start_up = Seconds{draws_.uniform(0.0, 10.0)};
    script_.start_up_power = script_.gpu.power.idle * draws_.uniform(1.0, 1.3);
    const double end = draws_.uniform(0.0, 1.0);
    script_.dialect = static_cast<Dialect>(below(dialect_names.size()));
    script_.first_epoch = static_cast<int>(below(2));
    const double scatter = draws_.uniform(0.0, 0.6);
    script_.scatter = below(3) == 0 ? 0.0 : scatter;
    const bool tells_nothing = below(2) == 0;
    const bool has_target = below(2) == 0 || script_.scatter > 0.0;
    script_.expressions = Expressions::all;
    script_.has_target = script_.chooses_batch_size || has_target;
    if (tells_nothing && !script_.chooses_batch_size) {
      script_.expressions = Expressions::usual;
      script_.has_target = false;
    }
    if (population_.metric_only) {
      script_.expressions = Expressions::metric_only;
    }
    script_.end = Seconds{end};
    script_.limits_matter = below(3) > 0;
    write_arms();
    write_change();
    write_alone();
    return script_;
  }

 private:
  // A GPU whose power depends on load and limit alone, not on temperature.
  static physics::GpuModel steady(physics::GpuModel gpu) {
    gpu.thermal.kelvins_per_watt = 0.0;
    gpu.power.leakage = 0.0;
    return gpu;
  }

  std::uint64_t below(std::uint64_t bound) { return draws_.below(bound); }
  double log_uniform(double low, double high) { return low * std::exp(draws_.uniform() * std::log(high / low)); }

  void write_arms() {
    const Seconds epoch{log_uniform(0.05, 60.0)};
    const double epochs = log_uniform(1.0, 40.0);
    const double evaluation = draws_.uniform(0.0, 0.5);
    const bool evaluates = below(4) > 0;
    const double part = evaluates ? evaluation : 0.0;
    const physics::Demand training = write_demand();
    const physics::Demand evaluating =
        physics::Demand::of_work(training.busy, training.activity * draws_.uniform(0.4, 1.0), training.memory);
    const double most_steps = std::min<double>(most_lines, epoch * (1.0 - part) / shortest_step);
    const double steps = log_uniform(4.0, std::max(5.0, most_steps));
    script_.every = static_cast<int>(2 + below(4));
    const std::size_t arms = 3 + below(4);
    const std::size_t usual = below(arms);
    const double best = draws_.uniform(0.0, static_cast<double>(arms - 1));
    const double bend = draws_.uniform(0.02, 0.2);
    const double fixed = draws_.uniform(0.2, 0.8);  // of a step at the default: does not grow with the batch
    const auto needed = [&](std::size_t arm) {
      const double off = static_cast<double>(arm) - best;
      return 1.0 + bend * off * off;
    };
    for (std::size_t arm = 0; arm < arms; ++arm) {
      const double scale = std::exp2(static_cast<double>(arm) - static_cast<double>(usual));
      const double count = std::clamp(std::round(steps / scale), 1.0, static_cast<double>(most_lines));
      const Seconds trained = epoch * (1.0 - part) * (fixed / scale + 1.0 - fixed);
      physics::Demand demand = training;
      demand.busy = std::clamp(training.busy * (1.0 + 0.1 * std::log2(scale)), 0.05, 1.0);
      script_.arms.push_back({.batch_size = 8 << arm,
                              .steps = static_cast<int>(count),
                              .step = trained / count,
                              .training = demand,
                              .evaluation = epoch * part,
                              .evaluating = evaluating,
                              .epochs = std::max(1.0, epochs * needed(arm) / needed(usual))});
    }
    script_.usual = usual;
    if (!script_.chooses_batch_size) {
      script_.arms = {script_.arms[usual]};
      script_.usual = 0;
    }
    if (script_.scatter == 0.0) {
      for (Arm& arm : script_.arms) {
        arm.epochs = std::round(arm.epochs);
      }
    }
  }

  // Kernels that limits slow down, or a load below the lowest of them.
  physics::Demand write_demand() {
    const double busy = draws_.uniform(0.8, 1.0);
    const double activity = draws_.uniform(0.6, 1.1);
    const double memory = draws_.uniform(0.0, 0.5);
    const double light = draws_.uniform(0.05, 0.3);
    if (script_.limits_matter) {
      return physics::Demand::of_work(busy, activity, memory);
    }
    const physics::PowerCurve& curve = script_.gpu.power;
    const double room = (script_.gpu.limits.min - curve.waiting) / curve.dynamic;
    return physics::Demand::of_work(busy, std::max(0.02, room * light * 3.0), memory);
  }

  void write_change() {
    if (!population_.changes) {
      return;
    }
    Change change;
    change.kind = static_cast<Change::Kind>(below(3));
    change.recurrence = static_cast<int>(2 + below(6));
    switch (change.kind) {
      case Change::Kind::speed:
        change.factor = log_uniform(0.3, 3.0);
        break;
      case Change::Kind::data:
        change.factor = log_uniform(1.2, 3.0);
        break;
      case Change::Kind::neighbour:
        change.factor = draws_.uniform(0.4, 0.8);
        break;
    }
    script_.change = change;
    script_.recurrences = change.recurrence + 6;
  }

  void write_alone() {
    if (!population_.alone) {
      return;
    }
    const double epoch = log_uniform(0.2, 30.0);
    const double epochs = log_uniform(10.0, 200.0);
    const bool drifts = below(2) == 0;
    const double drift = draws_.uniform(-0.2, 0.2);
    const double scatter = below(2) == 0 ? draws_.uniform(0.0, 0.05) : draws_.uniform(0.05, 0.3);
    Arm arm = script_.arms[script_.usual];
    const double factor = epoch / (arm.step * static_cast<double>(arm.steps) + arm.evaluation).value();
    arm.step *= factor;
    arm.evaluation *= factor;
    arm.epochs = std::round(epochs);
    script_.arms = {arm};
    script_.usual = 0;
    script_.chooses_batch_size = false;
    script_.has_target = false;
    script_.scatter = 0.0;
    script_.step_scatter = scatter;
    script_.drift = drifts ? drift : 0.0;
    if (script_.dialect == Dialect::silent) {
      script_.dialect = Dialect::plain_from_1;
    }
    Random shown{script_.seed, 4};
    const bool tells_nothing = shown.below(2) == 0;
    const bool has_bar = shown.below(2) == 0;
    const int bar = static_cast<int>(2 + shown.below(20));
    const bool draws_bars = script_.dialect == Dialect::tqdm_epoch || script_.dialect == Dialect::lightning ||
                            script_.dialect == Dialect::hugging_face;
    script_.expressions = tells_nothing ? Expressions::usual : Expressions::all;
    script_.evaluation_bar = draws_bars && has_bar ? bar : 0;
  }

  Random draws_;
  Population population_;
  Script script_;
};

physics::OperatingPoint point_of(const Script& script, const physics::Demand& demand, Watts limit) {
  physics::Controls controls = physics::Controls::defaults(script.gpu);
  controls.requested_limit = limit;
  return physics::settle(script.gpu, controls, demand, script.gpu.thermal.ambient);
}

Cost of_work(const Script& script, const physics::Demand& demand, Seconds work, Watts limit) {
  if (work <= Seconds{}) {
    return {};
  }
  const physics::OperatingPoint point = point_of(script, demand, limit);
  const Seconds time = work / point.speed;
  return {.energy = point.power * time, .time = time};
}

// Of the logarithm, where the mean is 1.
double sigma_of(double scatter) {
  return std::sqrt(std::log1p(scatter * scatter));
}

}  // namespace

Script write_script(std::uint64_t seed, const Population& population) {
  return Writer{seed, population}.write();
}

Joules weighed(const Script& script, const Cost& cost) {
  return cost.energy * script.eta + script.gpu.limits.max * cost.time * (1.0 - script.eta);
}

Script at_recurrence(const Script& script, int recurrence) {
  Script now = script;
  if (!script.change || recurrence < script.change->recurrence) {
    return now;
  }
  const double factor = script.change->factor;
  for (Arm& arm : now.arms) {
    switch (script.change->kind) {
      case Change::Kind::speed:
        arm.step *= 1.0 / factor;
        arm.evaluation *= 1.0 / factor;
        break;
      case Change::Kind::data:
        arm.steps = std::max(1, static_cast<int>(std::lround(arm.steps * factor)));
        break;
      case Change::Kind::neighbour:
        // The same kernels, with waits for the host between them.
        arm.step *= 1.0 / factor;
        arm.training.busy *= factor;
        break;
    }
  }
  return now;
}

Cost of_epoch(const Script& script, const Arm& arm, Watts limit) {
  return of_work(script, arm.training, arm.step * static_cast<double>(arm.steps), limit) +
         of_work(script, arm.evaluating, arm.evaluation, limit);
}

Cost of_run(const Script& script, const Arm& arm, Watts limit, double epochs) {
  // A run is not judged by what it does after its target.
  const Seconds beside = script.start_up + (script.has_target ? Seconds{} : script.end);
  const Watts power = script.gpu.power.idle * cold_part + script.start_up_power * (1.0 - cold_part);
  return Cost{.energy = power * beside, .time = beside} + of_epoch(script, arm, limit) * epochs;
}

int epochs_of(const Script& script, const Arm& arm, double luck) {
  const double sigma = sigma_of(script.scatter);
  const double epochs = arm.epochs * std::exp(sigma * luck - 0.5 * sigma * sigma);
  return std::max(1, static_cast<int>(std::lround(epochs)));
}

double expected_epochs(const Script& script, const Arm& arm) {
  const double sigma = sigma_of(script.scatter);
  if (sigma == 0.0) {
    return epochs_of(script, arm, 0.0);
  }
  // The sum, over all k, of the probability of at least k epochs.
  double sum = 1.0;
  for (int k = 2; k < 100'000; ++k) {
    const double least_luck = (std::log((k - 0.5) / arm.epochs) + 0.5 * sigma * sigma) / sigma;
    const double probability = 0.5 * std::erfc(least_luck / std::numbers::sqrt2);
    sum += probability;
    if (probability < 1e-9 && k > arm.epochs) {
      break;
    }
  }
  return sum;
}

Cost expected_default(const Script& script) {
  const Arm& arm = script.arms[script.usual];
  return of_run(script, arm, script.gpu.limits.max, expected_epochs(script, arm));
}

double excess_of_limit(const Script& script, const Arm& arm, Watts limit, const std::vector<Watts>& limits) {
  const double epochs = expected_epochs(script, arm);
  const auto cost = [&](Watts one) { return weighed(script, of_run(script, arm, one, epochs)); };
  Joules least = cost(limit);
  for (const Watts one : limits) {
    least = std::min(least, cost(one));
  }
  return cost(limit) / least - 1.0;
}

}  // namespace zeus::truth
