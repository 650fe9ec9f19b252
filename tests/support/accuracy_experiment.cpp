#include "tests/support/accuracy_experiment.hpp"

#include "base/random.hpp"
#include "measure/calibration.hpp"
#include "measure/counter_track.hpp"
#include "measure/edge.hpp"
#include "measure/shared_errors.hpp"
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

constexpr Seconds a_call{5e-6};  // to the driver, for each further GPU

// One of the GPUs: its load, its counter, and what is known of it by now.
class Card {
 public:
  Card(const AccuracySetting& setting, std::uint32_t number, Seconds phase, Instant now)
      : setting_{setting},
        model_{setting.model},
        track_{{.resolution = Joules{1e-3}, .wraps_at = {}},
               measure::sensor_timing({.name = std::string{setting.model.product()}}),
               measure::most_of_any_gpu,
               number} {
    model_.sensors.phase = phase;
    gpu_ = std::make_unique<physics::Gpu>(model_, *state_);
    gpu_->start(now);
  }

  void draw(Instant now, physics::Demand demand) { gpu_->set_load(now, physics::Load::constant(demand)); }

  void new_phase(Instant now, Seconds back) {
    gpu_->set_load(now, physics::Load::square(physics::Demand::of_power(setting_.low),
                                              physics::Demand::of_power(setting_.high), setting_.period, now - back));
  }

  void advance(Instant to) { gpu_->advance(to); }

  Joules look(Instant now) {
    const physics::EnergyReading reading = *physics::Sensors{*gpu_}.counter(now);
    const Joules shown{std::floor(reading.value.value() * 1e3) * 1e-3};
    const bool was_first = !track_.latest_reading();
    const auto seen = track_.observe(now, Seconds{2e-6}, shown);
    if (seen == measure::CounterTrack::Observation::ticked) {
      calibration_ = measure::calibrate(track_.history());
    }
    if (was_first || seen == measure::CounterTrack::Observation::ticked) {
      read_samples(now);
    }
    return shown;
  }

  void pause() { track_.pause(); }
  [[nodiscard]] Instant next_reading(Instant now) const { return track_.next_reading(now); }
  [[nodiscard]] Joules truth(Instant at) const { return gpu_->energy(at); }
  [[nodiscard]] std::optional<measure::Edge> edge(Instant at) const {
    return measure::edge(track_.history(), calibration_, at);
  }
  [[nodiscard]] bool is_final(Instant at) const { return measure::is_final(track_.history(), at); }
  [[nodiscard]] measure::RecentLoad recent_load() const { return measure::recent_load(track_.history()); }

 private:
  void read_samples(Instant now) {
    if (!setting_.samples) {
      return;
    }
    std::array<physics::PowerReading, 128> ring;
    const std::size_t count = physics::Sensors{*gpu_}.samples(now, track_.history().latest_sample, ring);
    std::vector<device::Stamped<Watts>> samples;
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back({.value = Watts{std::floor(ring[i].value.value() * 1e3) * 1e-3}, .at = ring[i].updated});
    }
    track_.observe_samples(samples);
    calibration_ = measure::calibrate(track_.history());
  }

  AccuracySetting setting_;
  physics::GpuModel model_;
  std::unique_ptr<physics::GpuState> state_ = std::make_unique<physics::GpuState>();
  std::unique_ptr<physics::Gpu> gpu_;
  measure::CounterTrack track_;
  measure::Calibration calibration_;
};

// Some GPUs and a reader that works like the sampler: it reads a counter when its track asks for it, and the driver's
// ring of samples once per tick. Reading takes some time, and waking up is late.
class Bench {
 public:
  explicit Bench(const AccuracySetting& setting) : setting_{setting}, random_{setting.seed} {
    Seconds phase;
    for (int i = 0; i < setting.gpus; ++i) {
      phase = i == 0 || !setting.ticks_together ? Seconds{random_.uniform(0, 0.1)} : phase;
      cards_.push_back(std::make_unique<Card>(setting, static_cast<std::uint32_t>(i), phase, now_));
    }
    next_steps_.assign(setting.in_step ? 1 : cards_.size(), now_);
    new_phase();
  }

  void draw(physics::Demand demand) {
    for (const auto& card : cards_) {
      card->draw(now_, demand);
    }
  }

  void new_phase() {
    if (setting_.irregular) {
      return;
    }
    if (setting_.period <= Seconds{0}) {
      draw(physics::Demand::of_power(setting_.low));
      return;
    }
    Seconds back;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      back = i == 0 || !setting_.in_step ? setting_.period * random_.uniform() : back;
      cards_[i]->new_phase(now_, back);
    }
  }

  void idle(Seconds duration) {
    for (const auto& card : cards_) {
      card->pause();
    }
    move_to(now_ + duration);
  }

  void look_until(Instant until) {
    while (true) {
      Instant next = until + 1_s;
      for (const auto& card : cards_) {
        next = std::min(next, card->next_reading(now_));
      }
      next = next + waking_up();
      if (next > until) {
        break;
      }
      move_to(next);
      for (const auto& card : cards_) {
        if (card->next_reading(now_) <= now_) {
          look(*card);
        }
      }
    }
    move_to(until);
  }

  // Of all GPUs, as a window begins or ends. Returns what their counters show.
  Joules look() {
    Joules shown;
    for (const auto& card : cards_) {
      shown += look(*card);
    }
    return shown;
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Card>>& cards() const { return cards_; }
  [[nodiscard]] bool is_final(Instant at) const {
    return std::ranges::all_of(cards_, [at](const auto& card) { return card->is_final(at); });
  }
  Random& random() { return random_; }

 private:
  Joules look(Card& card) {
    const Joules shown = card.look(now_);
    if (cards_.size() > 1) {
      move_to(now_ + a_call);
    }
    return shown;
  }

  Seconds waking_up() {
    const Seconds usual{random_.uniform(0, 60e-6)};
    const bool held_up = setting_.late > Seconds{0} && random_.below(3) == 0;
    return held_up ? usual + setting_.late * random_.exponential() : usual;
  }

  // Time passes, and irregular loads take their steps.
  void move_to(Instant to) {
    for (std::size_t i = 0; setting_.irregular && i < next_steps_.size(); ++i) {
      while (next_steps_[i] <= to) {
        const Instant at = std::max(now_, next_steps_[i]);
        const auto demand =
            physics::Demand::of_power(setting_.low + (setting_.high - setting_.low) * random_.uniform());
        for (std::size_t card = i; card < (setting_.in_step ? cards_.size() : i + 1); ++card) {
          cards_[card]->draw(at, demand);
        }
        next_steps_[i] = at + setting_.period * random_.exponential();
      }
    }
    now_ = to;
    for (const auto& card : cards_) {
      card->advance(now_);
    }
  }

  AccuracySetting setting_;
  Random random_;
  std::vector<std::unique_ptr<Card>> cards_;
  Instant now_{1'000'000'000};
  std::vector<Instant> next_steps_;  // one, or one for each GPU
};

struct Errors {
  std::vector<double> errors;
  std::vector<double> half_widths;

  void add(const Energy& measured, Joules truth) {
    errors.push_back((measured.value - truth).value());
    half_widths.push_back(measured.uncertainty.value());
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

using Cards = std::vector<std::unique_ptr<Card>>;

// The window's beginning on one GPU.
struct Begin {
  Joules truth;  // remembered, since a GPU remembers only so many steps of its load
  std::optional<measure::Edge> edge;
};

// Computes the edges at the window's beginning once more: all of them, or those alone that are not settled.
void compute(const Cards& cards, Instant begin, bool all, std::vector<Begin>& begins) {
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (all || !begins[i].edge || !begins[i].edge->settled) {
      begins[i].edge = cards[i]->edge(begin);
    }
  }
}

// The energy of the window that ends now; 0, and certainly so, if it is unknown.
Energy total(const Cards& cards, const std::vector<Begin>& begins, Instant end) {
  std::vector<measure::InWindow> gpus;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const auto end_edge = cards[i]->edge(end);
    if (!begins[i].edge || !end_edge) {
      return {};
    }
    gpus.push_back({.energy = measure::energy_between(*begins[i].edge, *end_edge),
                    .load = cards.size() > 1 ? cards[i]->recent_load() : measure::RecentLoad{}});
  }
  const measure::SharedErrors shared = measure::shared_errors(gpus);
  std::optional<Energy> total;
  for (const measure::InWindow& gpu : gpus) {
    Energy energy{.value = gpu.energy.value, .uncertainty = gpu.energy.half_width};
    measure::set_parts(energy, gpu, shared);
    total = total ? *total + energy : energy;
  }
  return *total;
}

}  // namespace

AccuracyResult measure_accuracy(const AccuracySetting& setting) {
  Bench bench{setting};
  const auto& cards = bench.cards();
  std::vector<double> plain;
  Errors settled;
  Errors immediate;
  const Seconds tick = setting.model.sensors.counter_period;
  bench.look_until(bench.now() + 3_s);
  std::vector<Begin> begins(cards.size());
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
    for (std::size_t card = 0; card < cards.size(); ++card) {
      begins[card].truth = cards[card]->truth(begin);
    }
    const Joules begin_shown = bench.look();
    // Like the monitor: it settles the begin edge once the ticks around it have come.
    const Instant end = begin + setting.window;
    bench.look_until(std::min(end, begin + tick * 4.5));
    compute(cards, begin, true, begins);
    bench.look_until(end);
    const Joules end_shown = bench.look();
    compute(cards, begin, false, begins);
    Joules truth;
    for (std::size_t card = 0; card < cards.size(); ++card) {
      truth += cards[card]->truth(end) - begins[card].truth;
    }
    plain.push_back((end_shown - begin_shown - truth).value());
    immediate.add(total(cards, begins, end), truth);
    while (!bench.is_final(end)) {
      bench.look_until(bench.now() + tick * 0.5);
    }
    compute(cards, begin, setting.window < tick * 4.5, begins);
    settled.add(total(cards, begins, end), truth);
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
    const Card& card = *bench.cards().front();
    const auto energy = measure::energy_between(*card.edge(begin), *card.edge(end));
    const Joules truth = card.truth(end) - card.truth(begin);
    plain.push_back((end_shown - begin_shown - truth).value());
    settled.add({.value = energy.value, .uncertainty = energy.half_width}, truth);
  }
  return summarise(settled, root_mean_square(plain));
}

}  // namespace zeus::test
