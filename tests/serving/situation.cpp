#include "situation.hpp"

#include "base/random.hpp"
#include "measure/windows.hpp"
#include "physics/operating_point.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zeus::test {

physics::Demand Situation::demand(std::size_t running) const {
  return running == 0 ? physics::Demand::of_work(0, 0, 0)
                      : physics::Demand::of_work(
                            1, std::min(1.0, activity + activity_each * static_cast<double>(running)), memory);
}

Situation drawn_situation(std::uint64_t number) {
  Random random{20261126, number};
  constexpr std::array names{"A100", "H100", "V100", "A40"};
  Situation one;
  one.seed = random.bits();
  physics::GpuModel model = physics::preset(names.at(random.below(names.size())));
  model.power.leakage = 0;  // so that the long run needs no temperature
  one.gpus.assign(1 + random.below(4), model);
  one.activity = random.uniform(0.2, 0.5);
  one.activity_each = random.uniform(0.002, 0.02);
  ServedShape& shape = one.shape;
  shape.in_flight = std::size_t{1} << random.below(6);
  shape.most_running = 4 + random.below(60);
  shape.step = Seconds{random.uniform(0.01, 0.04)};
  shape.step_each = Seconds{random.uniform(0.0001, 0.001)};
  shape.prompt = Seconds{random.uniform(0.002, 0.03)};
  shape.fewest_pieces = 10 + random.below(60);
  shape.most_pieces = shape.fewest_pieces + random.below(2 * shape.fewest_pieces);
  shape.tokens_of_piece = 1 + random.below(2);
  shape.requests = 600 + random.below(1400);
  const double open = random.uniform();
  const double use = random.uniform(0.2, 0.7);
  if (open < 0.4) {
    // A share of what the server can do.
    const auto running = static_cast<double>(shape.most_running);
    const double pieces = static_cast<double>(shape.fewest_pieces + shape.most_pieces) / 2;
    const Seconds full = (shape.step + shape.step_each * running) * pieces / running + shape.prompt;
    shape.rate = use / full.value();
  }
  return one;
}

ServedMachine::ServedMachine(const Situation& situation) : situation_{situation}, backend_{clock_, situation_.gpus} {
  measure::Sampler::Devices devices;
  for (const device::DiscoveredGpu& gpu : backend_.discover().gpus) {
    devices.gpus.push_back(gpu.gpu);
  }
  source_ = std::make_shared<measure::SamplerSource>(devices, clock_, measure::Sampler::Polled::by_caller);
  clock_.employ([this] { return source_->sampler()->poll(); });
  monitor_.emplace(measure::monitor_of(source_, {}));
}

void ServedMachine::set(const PowerSetting& setting) {
  for (std::size_t gpu = 0; gpu < backend_.size(); ++gpu) {
    static_cast<void>(backend_.gpu(gpu).set_power_limit(setting.limit));
    if (setting.clock) {
      static_cast<void>(backend_.gpu(gpu).lock_clocks(
          ClockDomain::graphics, {.minimum = situation_.gpus.front().clocks.min, .maximum = *setting.clock}));
    } else {
      static_cast<void>(backend_.gpu(gpu).reset_clocks(ClockDomain::graphics));
    }
  }
}

Benched ServedMachine::bench(std::uint64_t seed, std::uint64_t effort) {
  ServedShape shape = situation_.shape;
  shape.requests *= effort;
  ServedModel* served = nullptr;
  double speed = 1;
  ServedModel model{shape, seed, clock_,
                    [&](std::size_t running) {
                      for (std::size_t gpu = 0; gpu < backend_.size(); ++gpu) {
                        backend_.gpu(gpu).set_load(physics::Load::constant(situation_.demand(running)));
                      }
                      speed = running == 0 ? 1 : backend_.gpu(0).operating_point().speed;
                      if (served != nullptr) {
                        served->set_speed(speed);
                      }
                    },
                    true};
  served = &model;
  clock_.set_world([&] { return model.work(); });
  Benched benched{.run = serving::run_bench(model, *monitor_, clock_, [&](Instant until) {
                    clock_.sleep_until(until);
                    return true;
                  })};
  put_figures(benched.run, benched.result);
  clock_.set_world(nullptr);
  return benched;
}

namespace {

struct PointOfRunning {
  double watts = 0;  // of all GPUs
  double speed = 1;
};

PointOfRunning point_of(const Situation& situation, const std::optional<PowerSetting>& setting, std::size_t running) {
  PointOfRunning point;
  for (const physics::GpuModel& gpu : situation.gpus) {
    physics::Controls controls = physics::Controls::defaults(gpu);
    if (setting) {
      controls.requested_limit = setting->limit;
      controls.clocks_locked = setting->clock.has_value();
      controls.lock_min = gpu.clocks.min;
      controls.lock_max = setting->clock.value_or(gpu.clocks.max);
    }
    const auto settled = physics::settle(gpu, controls, situation.demand(running), gpu.thermal.ambient);
    point.watts += settled.power.value();
    point.speed = running == 0 ? 1 : settled.speed;
  }
  return point;
}

void add_times(const std::vector<serving::Answer>& answers, LongRun& run) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  std::size_t refused = 0;
  for (std::size_t i = answers.size() / 20; i < answers.size(); ++i) {
    const serving::Answer& answer = answers[i];
    refused += answer.is_whole() ? 0 : 1;
    for (std::size_t k = 0; k < answer.arrivals.size(); ++k) {
      const Instant from = k == 0 ? answer.due : answer.arrivals[k - 1];
      (k == 0 ? run.first : run.between).push_back((answer.arrivals[k] - from).value());
    }
  }
  const std::size_t gaps_of_one = run.between.size() / std::max<std::size_t>(run.first.size(), 1);
  run.between.insert(run.between.end(), refused * gaps_of_one, endless);
  run.first.insert(run.first.end(), refused, endless);
}

}  // namespace

LongRun long_run(const Situation& situation, std::uint64_t times, const std::optional<PowerSetting>& setting,
                 bool with_times) {
  ServedShape shape = situation.shape;
  shape.requests *= times;
  VirtualClock clock;
  std::vector<PointOfRunning> points;
  double watts = 0;
  double joules = 0;
  Instant since;
  ServedModel* served = nullptr;
  ServedModel model{shape, situation.seed + 1, clock,
                    [&](std::size_t running) {
                      while (points.size() <= running) {
                        points.push_back(point_of(situation, setting, points.size()));
                      }
                      joules += watts * (clock.now() - since).value();
                      since = clock.now();
                      watts = points[running].watts;
                      if (served != nullptr) {
                        served->set_speed(points[running].speed);
                      }
                    },
                    with_times};
  served = &model;
  // Not counted: the beginning and the end, where fewer are in flight.
  const auto run_until = [&](std::uint64_t sent) {
    std::optional<Instant> due;
    while (model.progress().sent < sent && (due = model.work())) {
      clock.sleep_until(*due);
    }
    joules += watts * (clock.now() - since).value();
    since = clock.now();
  };
  run_until(shape.requests / 20);
  const double joules_before = joules;
  const auto tokens_before = static_cast<double>(model.tokens());
  const auto answers_before = static_cast<double>(model.progress().ended);
  run_until(shape.requests);
  const double taken = joules - joules_before;
  LongRun run{.energy_per_token = taken / (static_cast<double>(model.tokens()) - tokens_before),
              .energy_per_answer = taken / (static_cast<double>(model.progress().ended) - answers_before)};
  if (with_times) {
    add_times(model.take_answers(), run);
  }
  return run;
}

}  // namespace zeus::test
