#include "measure/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double memory = 12;  // ticks over which misses are averaged
// A kurtosis out of a few values is too low: so many normal ones are thought beside them.
constexpr double prior_misses = 2;
constexpr double normal_kurtosis = 3;
constexpr double steepest = 3;  // exponent of a step at any time

double square(double x) {
  return x * x;
}

void approach(double& mean, double value, double count) {
  mean += (value - mean) / count;
}

}  // namespace

Doubt Spread::over(Seconds time) const {
  const double at_most = level * square(time.value());
  const double part = std::min(time / tick, 2.0);
  const double by_law = at_tick * std::pow(part, exponent);
  if (by_law <= wave) {
    return Doubt::of(std::min(at_most, wave), wave_excess);
  }
  // What grows faster than a lasting difference is seldom there at all so early.
  const double seldom = std::pow(part, std::max(0.0, exponent - 2.0));
  return Doubt::of(std::min(at_most, by_law), (excess + normal_kurtosis) / seldom - normal_kurtosis);
}

Doubt Spread::between(Seconds time) const {
  Spread both = *this;
  both.wave *= 2.0;
  return both.over(time);
}

std::size_t Forecast::best() const {
  return static_cast<std::size_t>(std::ranges::min_element(rules_, {}, [](const Rule& rule) { return rule.at_tick; }) -
                                  rules_.begin());
}

void Forecast::tick_came(Joules energy, Seconds length, double timing_variance, bool judge) {
  energy_ = energy;
  length_ = length;
  judged_ = judge;
  const Watts mean = energy / length;
  if (judge) {
    ticks_ = std::min(ticks_ + 1, memory);
    approach(timing_variance_, timing_variance, ticks_);
    for (Rule& rule : rules_) {
      const double miss = square((rule.predicted * length - energy).value());
      approach(rule.at_tick, miss, ticks_);
      approach(rule.at_tick_4, square(miss), ticks_);
      rule.former = rule.predicted;
    }
  }
  Rule& by_long_mean = rules_[as_long];
  const bool first = by_long_mean.predicted <= Watts{0};
  by_long_mean.predicted =
      first ? mean : by_long_mean.predicted + (mean - by_long_mean.predicted) / std::min(ticks_ + 1, memory);
  rules_[as_last_tick].predicted = mean;
  rules_[as_last_level].predicted = mean;
}

void Forecast::sample_came(Watts level, Seconds window) {
  window_ = window;
  rules_[as_last_level].predicted = level;
  if (!judged_) {
    return;
  }
  samples_ = std::min(samples_ + 1, memory);
  for (Rule& rule : rules_) {
    const Joules before_sample = energy_ - level * window;
    approach(rule.at_sample, square((rule.former * (length_ - window) - before_sample).value()), samples_);
    approach(rule.level_miss, square((rule.former - level).value()), samples_);
  }
}

void Forecast::begin_with(std::span<const Watts> samples) {
  const auto used = samples.last(std::min(samples.size(), static_cast<std::size_t>(memory)));
  if (used.empty()) {
    return;
  }
  const auto count = static_cast<double>(used.size());
  Watts mean;
  for (const Watts sample : used) {
    mean += sample / count;
  }
  rules_[as_last_tick].predicted = rules_[as_long].predicted = mean;
  rules_[as_last_level].predicted = used.back();
  if (samples_ == 0) {
    double squares = 0;
    for (const Watts sample : used) {
      squares += square((sample - mean).value()) / count;
    }
    for (Rule& rule : rules_) {
      rule.level_miss = squares;
    }
  }
}

// Mean square (W^2) of what is missed when any power from nothing to the most may come.
double Forecast::level_of_anything() const {
  const Watts predicted = power();
  const double most = std::max(predicted, most_).value();
  return square(most * 0.5 - predicted.value()) + square(most) / 12.0;
}

Spread Forecast::spread(double wave) const {
  const Rule& rule = rules_[best()];
  if (ticks_ == 0) {
    // Nothing was predicted before: samples show how a load goes on, not how it begins, and a first window often begins
    // with its load.
    const double level = std::max(rule.level_miss, level_of_anything());
    return {.level = level, .at_tick = level, .tick = 1_s};
  }
  const double at_tick = std::max(0.0, rule.at_tick - timing_variance_);
  const double excess = (rule.at_tick_4 * ticks_ + normal_kurtosis * square(rule.at_tick) * prior_misses) /
                            std::max(1e-12, square(rule.at_tick) * (ticks_ + prior_misses)) -
                        normal_kurtosis;
  if (samples_ == 0) {
    return {.level = at_tick / square(length_.value()), .at_tick = at_tick, .tick = length_, .excess = excess};
  }
  const double at_sample = std::max(0.0, rule.at_sample - timing_variance_);
  double exponent = 0;
  if (at_tick > at_sample) {
    exponent = std::log(at_tick / std::max(at_sample, at_tick * 1e-6)) / std::log(length_ / (length_ - window_));
    // Steeper than any step: a wave that happens to be through where the sample begins.
    exponent = exponent > 2 * steepest ? 0.0 : std::min(exponent, steepest);
  }
  // Power differs at some time by at least what it did on average.
  const double level =
      std::max({rule.level_miss, at_sample / square((length_ - window_).value()), at_tick / square(length_.value())});
  return {.level = level,
          .at_tick = std::max(at_tick, at_sample),
          .tick = length_,
          .exponent = exponent,
          .wave = wave,
          .excess = excess};
}

}  // namespace zeus::measure
