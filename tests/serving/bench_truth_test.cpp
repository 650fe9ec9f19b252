// What the figures of a run are worth: served models drawn at random, measured on a virtual clock, against what a
// token and an answer take in the long run.

#include "backends/virtual/virtual_backend.hpp"
#include "base/random.hpp"
#include "measure/windows.hpp"
#include "physics/gpu_model.hpp"
#include "physics/operating_point.hpp"
#include "served_model.hpp"
#include "serving/bench.hpp"
#include "tests/support/population.hpp"
#include "tests/support/stepped_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::test {
namespace {

struct Situation {
  ServedShape shape;
  std::vector<physics::GpuModel> gpus;
  double activity = 0.5;       // of one answer's kernels
  double activity_each = 0.0;  // more for each other
  std::uint64_t seed = 0;

  [[nodiscard]] physics::Demand demand(std::size_t running) const {
    return running == 0 ? physics::Demand::of_work(0, 0, 0)
                        : physics::Demand::of_work(
                              1, std::min(1.0, activity + activity_each * static_cast<double>(running)), 0.6);
  }
};

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

struct LongRun {
  double energy_per_token = 0;
  double energy_per_answer = 0;
};

LongRun long_run(const Situation& situation) {
  ServedShape shape = situation.shape;
  shape.requests *= 12;
  VirtualClock clock;
  std::vector<double> watts;
  const auto power_of = [&](std::size_t running) {
    while (watts.size() <= running) {
      double sum = 0;
      for (const physics::GpuModel& gpu : situation.gpus) {
        const physics::Controls controls = physics::Controls::defaults(gpu);
        sum += physics::settle(gpu, controls, situation.demand(watts.size()), gpu.thermal.ambient).power.value();
      }
      watts.push_back(sum);
    }
    return watts[running];
  };
  double power = 0;
  double joules = 0;
  Instant since;
  ServedModel model{shape, situation.seed + 1, clock,
                    [&](std::size_t running) {
                      joules += power * (clock.now() - since).value();
                      since = clock.now();
                      power = power_of(running);
                    },
                    false};
  // Not counted: the beginning and the end, where fewer are in flight.
  const auto run_until = [&](std::uint64_t sent) {
    std::optional<Instant> due;
    while (model.progress().sent < sent && (due = model.work())) {
      clock.sleep_until(*due);
    }
    joules += power * (clock.now() - since).value();
    since = clock.now();
  };
  run_until(shape.requests / 20);
  const double joules_before = joules;
  const auto tokens_before = static_cast<double>(model.tokens());
  const auto answers_before = static_cast<double>(model.progress().ended);
  run_until(shape.requests);
  const double taken = joules - joules_before;
  return {.energy_per_token = taken / (static_cast<double>(model.tokens()) - tokens_before),
          .energy_per_answer = taken / (static_cast<double>(model.progress().ended) - answers_before)};
}

serving::BenchResult measured(const Situation& situation) {
  SteppedClock clock;
  backends::virtual_gpu::VirtualBackend backend{clock, situation.gpus};
  measure::Sampler::Devices devices;
  for (const device::DiscoveredGpu& gpu : backend.discover().gpus) {
    devices.gpus.push_back(gpu.gpu);
  }
  const auto source = std::make_shared<measure::SamplerSource>(devices, clock, measure::Sampler::Polled::by_caller);
  clock.employ([&] { return source->sampler()->poll(); });
  Monitor monitor = measure::monitor_of(source, {});
  ServedModel model{situation.shape, situation.seed, clock,
                    [&](std::size_t running) {
                      for (std::size_t gpu = 0; gpu < backend.size(); ++gpu) {
                        backend.gpu(gpu).set_load(physics::Load::constant(situation.demand(running)));
                      }
                    },
                    true};
  clock.set_world([&] { return model.work(); });
  serving::BenchResult result;
  put_figures(serving::run_bench(model, monitor, clock,
                                 [&](Instant until) {
                                   clock.sleep_until(until);
                                   return true;
                                 }),
              result);
  return result;
}

class Coverage {
 public:
  void add(const Energy& energy, double truth) {
    const double off = std::abs(energy.value.value() - truth);
    held_ += off <= energy.uncertainty.value() ? 1 : 0;
    widths_.push_back(energy.uncertainty.value() / energy.value.value());
    offs_.push_back(off / truth);
  }
  [[nodiscard]] double held() const { return static_cast<double>(held_) / static_cast<double>(widths_.size()); }
  [[nodiscard]] double median_width() { return median(widths_); }
  [[nodiscard]] double median_off() { return median(offs_); }

 private:
  static double median(std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }

  std::size_t held_ = 0;
  std::vector<double> widths_;
  std::vector<double> offs_;
};

std::uint64_t population() {
  // The nightly run asks for all of them.
  const char* const wanted = std::getenv("ZEUS_SERVED_MODELS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : drawn<std::uint64_t>(40);
}

TEST(BenchTruth, TheEnergyOfATokenAndOfAnAnswerIsWithinItsInterval) {
  const std::uint64_t all = population();
  Coverage tokens;
  Coverage answers;
  std::uint64_t not_steady = 0;
  for (std::uint64_t number = 0; number < all; ++number) {
    const Situation situation = drawn_situation(number);
    const serving::BenchResult result = measured(situation);
    if (!result.steady.energy_per_output_token || !result.steady.energy_per_answer) {
      ++not_steady;
      std::printf("%llu: %s\n", static_cast<unsigned long long>(number), result.steady.why_no_energy_per_token.c_str());
      continue;
    }
    const LongRun truth = long_run(situation);
    tokens.add(*result.steady.energy_per_output_token, truth.energy_per_token);
    answers.add(*result.steady.energy_per_answer, truth.energy_per_answer);
  }
  std::printf("of %llu runs, %llu without a steady state\n", static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(not_steady));
  std::printf("per token: held %.3f, median half-width %.4f, median error %.4f\n", tokens.held(), tokens.median_width(),
              tokens.median_off());
  std::printf("per answer: held %.3f, median half-width %.4f, median error %.4f\n", answers.held(),
              answers.median_width(), answers.median_off());
  if (sanitized) {
    return;  // too few to judge
  }
  EXPECT_GE(tokens.held(), 0.93);
  EXPECT_GE(answers.held(), 0.93);
  EXPECT_LE(tokens.median_width(), 0.03);
  EXPECT_LE(answers.median_width(), 0.03);
  EXPECT_LE(not_steady, all / 10);
}

}  // namespace
}  // namespace zeus::test
