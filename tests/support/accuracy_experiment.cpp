#include "tests/support/accuracy_experiment.hpp"

#include "base/random.hpp"
#include "measure/calibration.hpp"
#include "measure/counter_track.hpp"
#include "measure/edge.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::test {

namespace {

// A GPU and a reader that works like the sampler: it reads the counter when the track asks for it, and the driver's
// ring of samples once per tick. Reading takes some time, and waking up is late.
class Bench {
 public:
  explicit Bench(const AccuracySetting& setting)
      : setting_{setting},
        model_{setting.model},
        random_{setting.seed},
        track_{{.resolution = Joules{1e-3}, .wraps_at = {}},
               measure::sensor_timing({.name = std::string{setting.model.product()}})} {
    model_.sensors.phase = Seconds{random_.uniform(0, 0.1)};
    gpu_ = std::make_unique<physics::Gpu>(model_, *state_);
    gpu_->start(now_);
    new_phase();
  }

  void draw(physics::Demand demand) { gpu_->set_load(now_, physics::Load::constant(demand)); }

  void new_phase() {
    if (setting_.irregular) {
      return;
    }
    if (setting_.period <= Seconds{0}) {
      gpu_->set_load(now_, physics::Load::constant(physics::Demand::of_power(setting_.low)));
      return;
    }
    const Seconds back = setting_.period * random_.uniform();
    gpu_->set_load(now_, physics::Load::square(physics::Demand::of_power(setting_.low),
                                               physics::Demand::of_power(setting_.high), setting_.period, now_ - back));
  }

  void idle(Seconds duration) {
    track_.pause();
    move_to(now_ + duration);
  }

  void look_until(Instant until) {
    while (true) {
      const Instant next = track_.next_reading(now_) + waking_up();
      if (next > until) {
        break;
      }
      move_to(next);
      look();
    }
    move_to(until);
  }

  Joules look() {
    const physics::EnergyReading reading = *physics::Sensors{*gpu_}.counter(now_);
    const Joules shown{std::floor(reading.value.value() * 1e3) * 1e-3};
    const bool was_first = !track_.latest_reading();
    const auto seen = track_.observe(now_, Seconds{2e-6}, shown);
    if (seen == measure::CounterTrack::Observation::ticked) {
      calibration_ = measure::calibrate(track_.history());
    }
    if (was_first || seen == measure::CounterTrack::Observation::ticked) {
      read_samples();
    }
    return shown;
  }

  void read_samples() {
    if (!setting_.samples) {
      return;
    }
    std::array<physics::PowerReading, 128> ring;
    const std::size_t count = physics::Sensors{*gpu_}.samples(now_, track_.history().latest_sample, ring);
    std::vector<device::Stamped<Watts>> samples;
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back({.value = Watts{std::floor(ring[i].value.value() * 1e3) * 1e-3}, .at = ring[i].updated});
    }
    track_.observe_samples(samples);
    calibration_ = measure::calibrate(track_.history());
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Joules truth(Instant at) const { return gpu_->energy(at); }
  [[nodiscard]] std::optional<measure::Edge> edge(Instant at) const {
    return measure::edge(track_.history(), calibration_, at);
  }
  [[nodiscard]] bool is_final(Instant at) const { return measure::is_final(track_.history(), at); }
  Random& random() { return random_; }

 private:
  Seconds waking_up() {
    const Seconds usual{random_.uniform(0, 60e-6)};
    const bool held_up = setting_.late > Seconds{0} && random_.below(3) == 0;
    return held_up ? usual + setting_.late * random_.exponential() : usual;
  }

  // Time passes, and an irregular load takes its steps.
  void move_to(Instant to) {
    while (setting_.irregular && next_step_ <= to) {
      now_ = std::max(now_, next_step_);
      draw(physics::Demand::of_power(setting_.low + (setting_.high - setting_.low) * random_.uniform()));
      next_step_ = now_ + setting_.period * random_.exponential();
    }
    now_ = to;
    gpu_->advance(now_);
  }

  AccuracySetting setting_;
  physics::GpuModel model_;
  Random random_;
  std::unique_ptr<physics::GpuState> state_ = std::make_unique<physics::GpuState>();
  std::unique_ptr<physics::Gpu> gpu_;
  measure::CounterTrack track_;
  measure::Calibration calibration_;
  Instant now_{1'000'000'000};
  Instant next_step_{1'000'000'000};
};

struct Errors {
  std::vector<double> errors;
  std::vector<double> half_widths;

  void add(double error, double half_width) {
    errors.push_back(error);
    half_widths.push_back(half_width);
  }
};

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

Joules quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(static_cast<double>(values.size()) * share);
  std::ranges::nth_element(values, values.begin() + place);
  return Joules{values[static_cast<std::size_t>(place)]};
}

Accuracy summarise(const Errors& all, double plain) {
  std::vector<double> needed;  // by each window
  std::vector<double> sizes;
  for (std::size_t i = 0; i < all.errors.size(); ++i) {
    sizes.push_back(std::abs(all.errors[i]));
    needed.push_back(all.errors[i] == 0 ? 0 : sizes.back() / all.half_widths[i]);
  }
  std::ranges::sort(needed);
  const auto covered = std::ranges::upper_bound(needed, 1.0) - needed.begin();
  const Joules quantile_95 = quantile(sizes, 0.95);
  const Joules half_width = quantile(all.half_widths, 0.5);
  return {.error = root_mean_square(all.errors) / plain,
          .coverage = static_cast<double>(covered) / static_cast<double>(all.errors.size()),
          .half_width = half_width,
          .quantile_95 = quantile_95,
          .width = half_width / std::max(quantile_95, Joules{1e-9}),
          .needed = needed[needed.size() * 95 / 100]};
}

}  // namespace

AccuracyResult measure_accuracy(const AccuracySetting& setting) {
  Bench bench{setting};
  std::vector<double> plain;
  Errors settled;
  Errors immediate;
  const Seconds tick = setting.model.sensors.counter_period;
  bench.look_until(bench.now() + 3_s);
  for (int i = 0; i < setting.windows; ++i) {
    if (setting.cold) {
      bench.idle(Seconds{bench.random().uniform(4.0, 4.5)});
      bench.new_phase();
      bench.idle(Seconds{bench.random().uniform(1.0, 1.5)});
    } else {
      bench.new_phase();
      bench.look_until(bench.now() + Seconds{bench.random().uniform(0.4, 0.9)});
    }
    const Instant begin = bench.now();
    const Joules truth_at_begin = bench.truth(begin);  // a GPU remembers only this many steps of its load
    const Joules begin_shown = bench.look();
    // Like the monitor: it settles the begin edge once the ticks around it have come.
    const Instant end = begin + setting.window;
    bench.look_until(std::min(end, begin + tick * 4.5));
    auto begin_edge = bench.edge(begin);
    bench.look_until(end);
    const Joules end_shown = bench.look();
    if (!begin_edge || !begin_edge->settled) {
      begin_edge = bench.edge(begin);
    }
    const auto end_edge = bench.edge(end);
    const double truth = (bench.truth(end) - truth_at_begin).value();
    plain.push_back((end_shown - begin_shown).value() - truth);
    if (begin_edge && end_edge) {
      const auto energy = measure::energy_between(*begin_edge, *end_edge);
      immediate.add(energy.value.value() - truth, energy.half_width.value());
    } else {
      immediate.add(-truth, 0);
    }
    while (!bench.is_final(end)) {
      bench.look_until(bench.now() + tick * 0.5);
    }
    if (!begin_edge || !begin_edge->settled || setting.window < tick * 4.5) {
      begin_edge = bench.edge(begin);
    }
    if (begin_edge) {
      const auto energy = measure::energy_between(*begin_edge, *bench.edge(end));
      settled.add(energy.value.value() - truth, energy.half_width.value());
    } else {
      settled.add(-truth, 0);
    }
  }
  const double plain_error = root_mean_square(plain);
  return {.plain = Joules{plain_error},
          .settled = summarise(settled, plain_error),
          .immediate = summarise(immediate, plain_error)};
}

Accuracy measure_first_windows(const FirstWindows& setting) {
  std::vector<double> plain;
  Errors settled;
  const Seconds tick = setting.model.sensors.counter_period;
  for (int i = 0; i < setting.windows; ++i) {
    Bench bench{{.model = setting.model,
                 .samples = setting.samples,
                 .late = setting.late,
                 .seed = static_cast<std::uint64_t>(i)}};
    bench.draw(physics::Demand::none());
    bench.idle(3_s);
    bench.draw(physics::Demand::of_power(setting.load));
    bench.idle(tick * bench.random().uniform());
    const Instant begin = bench.now();
    const Joules begin_shown = bench.look();
    const Instant end = begin + setting.window;
    bench.look_until(end);
    const Joules end_shown = bench.look();
    while (!bench.is_final(end)) {
      bench.look_until(bench.now() + tick * 0.5);
    }
    const auto energy = measure::energy_between(*bench.edge(begin), *bench.edge(end));
    const double truth = (bench.truth(end) - bench.truth(begin)).value();
    plain.push_back((end_shown - begin_shown).value() - truth);
    settled.add(energy.value.value() - truth, energy.half_width.value());
  }
  return summarise(settled, root_mean_square(plain));
}

}  // namespace zeus::test
