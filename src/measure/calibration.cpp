#include "measure/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double memory = 48;  // ticks over which errors are averaged: the whole history
constexpr double wave_memory = 12;
// The share of a wave's variance, and of the variance that independent changes add in a tick, that shows in the middle
// of a straight line over two ticks.
constexpr double wave_in_two = 1.5;
constexpr double wander_in_two = 0.5;
constexpr double long_mean = 12;  // ticks in the longest mean that predicts power
// The kurtosis of a few values comes out too low or too high: so many normal ones are added to them.
constexpr double prior_misses = 2;
constexpr double noise = 3;  // standard deviations of two powers that are the same
constexpr double same_power = 0.01;
constexpr double steepest = 3;  // exponent of a step at any time

// A mean of all values so far, and of the recent ones once there are more than the memory holds.
template <typename T>
void approach(T& mean, T value, double count) {
  mean += (value - mean) / count;
}

// A simple way to predict, and its errors.
struct Rule {
  Watts predicted;
  Watts former;                                           // the prediction of the tick that has come
  JoulesSquared at_tick;                                  // mean square error at the end of a tick
  decltype(JoulesSquared{} * JoulesSquared{}) at_tick_4;  // mean fourth power of it
  JoulesSquared at_sample;                                // mean square error where a sample begins
  WattsSquared level_miss;                                // of the sample's power
};

// The energy between two ticks in a row.
struct Interval {
  Seconds length;
  Joules energy;
  JoulesSquared timing_variance;  // from the brackets of the two ticks
  std::optional<Watts> sample;

  Interval(const Tick& from, const Tick& to)
      : length{to.middle() - from.middle()}, energy{to.total - from.total}, sample{to.sample} {
    // A tick that was placed by the other one is off by as much as that one.
    const auto brackets = from.placed_within ? square(*from.placed_within) : square(from.width()) + square(to.width());
    timing_variance = square(mean()) * (brackets / 12.0);
  }
  [[nodiscard]] Watts mean() const { return energy / length; }
};

// Goes through the history tick by tick and predicts each next one.
class Replay {
 public:
  explicit Replay(const History& history) : history_{history} {
    const auto& ticks = history.ticks;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      if (i > 0 && ticks[i].follows) {
        learn({ticks[i - 1], ticks[i]}, predicted_);
        predicted_ = true;
        continue;
      }
      in_row_ = 0;
      former_.reset();
      predicted_ = ticks[i].before.has_value();
      if (const auto before = ticks[i].before) {
        rules_[as_last_tick].predicted = rules_[as_long].predicted = *before;
        rules_[as_last_level].predicted = ticks[i].sample.value_or(*before);
        in_row_ = std::min(ticks_, long_mean);
      }
    }
  }

  [[nodiscard]] Calibration result() const {
    return {.power = best().predicted, .spread = spread(), .habits = habits(), .unseen = unseen_now(history_)};
  }

 private:
  enum RuleName : std::size_t { as_last_tick, as_last_level, as_long, rule_count };

  // `judge`: the tick was predicted, so the prediction is compared with it.
  void learn(const Interval& interval, bool judge) {
    if (judge) {
      ticks_ = std::min(ticks_ + 1, memory);
      approach(timing_variance_, interval.timing_variance, ticks_);
      for (Rule& rule : rules_) {
        const JoulesSquared miss = square(rule.predicted * interval.length - interval.energy);
        approach(rule.at_tick, miss, ticks_);
        approach(rule.at_tick_4, miss * miss, ticks_);
        rule.former = rule.predicted;
      }
    }
    in_row_ = std::min(in_row_ + 1, long_mean);
    approach(rules_[as_long].predicted, interval.mean(), in_row_);
    rules_[as_last_tick].predicted = interval.mean();
    rules_[as_last_level].predicted = interval.sample.value_or(interval.mean());
    if (former_) {
      pairs_of_ticks_ = std::min(pairs_of_ticks_ + 1, wave_memory);
      const Seconds both = former_->length + interval.length;
      approach(off_line_of_two_,
               square((former_->mean() - interval.mean()) * former_->length * (interval.length / both)),
               pairs_of_ticks_);
    }
    former_ = interval;
    length_ = interval.length;
    if (interval.sample && history_.timing) {
      learn_sample(interval, *interval.sample, judge);
    }
  }

  void learn_sample(const Interval& interval, Watts level, bool judge) {
    const Seconds window = history_.timing->window;
    window_part_ = std::min(window / interval.length, 1.0);  // a tick that was seen late may be the shorter of the two
    lines_ = std::min(lines_ + 1, wave_memory);
    approach(off_line_, square((level - interval.mean()) * window), lines_);
    learn_pair(interval, level, window);
    if (!judge) {
      return;
    }
    samples_ = std::min(samples_ + 1, memory);
    for (Rule& rule : rules_) {
      const Joules before_sample = interval.energy - level * window;
      approach(rule.at_sample, square(rule.former * (interval.length - window) - before_sample), samples_);
      approach(rule.level_miss, square(rule.former - level), samples_);
    }
  }

  // Whether the load kept one power through a tick: if so, the sample equals the mean of the rest of the tick.
  void learn_pair(const Interval& interval, Watts level, Seconds window) {
    const Seconds rest = interval.length - window;
    const Watts before = (interval.energy - level * window) / rest;
    const Watts near = std::max(Watts{noise * root(interval.timing_variance) / rest}, interval.mean() * same_power);
    const Watts apart = abs(level - before);
    const bool same = apart <= near;
    pairs_ = std::min(pairs_ + 1, memory);
    approach(same_, same ? 1.0 : 0.0, pairs_);
    approach(near_, near, pairs_);
    if (!same) {
      others_ = std::min(others_ + 1, memory);
      approach(apart_, apart, others_);
    }
  }

  [[nodiscard]] Habits habits() const {
    // The difference of two mixtures lies anywhere between nothing and twice its mean.
    const double by_chance = others_ > 0 ? std::min(1.0, near_ / (apart_ * 2.0)) : 0.0;
    const double flat = std::max(0.0, (same_ - by_chance) / std::max(1e-9, 1.0 - by_chance));
    const double chance = same_ > 0 ? std::min(1.0, by_chance * (1.0 - flat) / same_) : 1.0;
    // Waves and independent changes of power both keep the energy off a straight line. On a line over two ticks, a wave
    // does no more than over one, and independent changes do twice as much: this tells one from the other.
    const double part = window_part_;
    const double of_wander = part * (1.0 - part);
    const double determinant = wave_part() * wander_in_two - of_wander * wave_in_two;
    const JoulesSquared wander = std::clamp((off_line_of_two_ * wave_part() - off_line_ * wave_in_two) / determinant,
                                            JoulesSquared{}, off_line_ / of_wander);
    const JoulesSquared wave = std::max(JoulesSquared{}, off_line_ - wander * of_wander) / wave_part();
    return {.wave = wave, .wander = wander, .chance = chance, .steps = -std::log(std::max(flat, 1.0 / memory))};
  }

  // What a wave with any phase at the two ticks and where the sample begins takes from the line there.
  [[nodiscard]] double wave_part() const {
    return 1.0 + window_part_ * window_part_ + (1.0 - window_part_) * (1.0 - window_part_);
  }

  [[nodiscard]] const Rule& best() const { return *std::ranges::min_element(rules_, {}, &Rule::at_tick); }

  // Mean square error if any power from zero to the maximum may come.
  [[nodiscard]] WattsSquared level_of_anything() const {
    const Watts predicted = best().predicted;
    const Watts most = std::max(predicted, history_.most);
    return square(most * 0.5 - predicted) + square(most) / 12.0;
  }

  [[nodiscard]] Spread spread() const {
    const Rule& rule = best();
    if (ticks_ == 0) {
      // Nothing was predicted before. Samples show how a load continues, not how it begins, and a first window often
      // begins together with its load.
      const WattsSquared level = std::max(rule.level_miss, level_of_anything());
      return {.level = level, .at_tick = level * square(1_s), .tick = 1_s};
    }
    const JoulesSquared at_tick = std::max(JoulesSquared{}, rule.at_tick - timing_variance_);
    const double excess = (rule.at_tick_4 * ticks_ + square(rule.at_tick) * (normal_kurtosis * prior_misses)).value() /
                              std::max(1e-12, square(rule.at_tick).value() * (ticks_ + prior_misses)) -
                          normal_kurtosis;
    if (samples_ == 0) {
      return {.level = at_tick / square(length_), .at_tick = at_tick, .tick = length_, .excess = excess};
    }
    const Seconds window = history_.timing->window;
    const JoulesSquared at_sample = std::max(JoulesSquared{}, rule.at_sample - timing_variance_);
    double exponent = 0;
    if (at_tick > at_sample) {
      exponent = std::log(at_tick / std::max(at_sample, at_tick * 1e-6)) / std::log(length_ / (length_ - window));
      // Steeper than any step: a wave that happens to cross the line where the sample begins.
      exponent = exponent > 2 * steepest ? 0.0 : std::min(exponent, steepest);
    }
    // At some time the power differs by at least its mean difference.
    const WattsSquared level =
        std::max({rule.level_miss, at_sample / square(length_ - window), at_tick / square(length_)});
    return {.level = level,
            .at_tick = std::max(at_tick, at_sample),
            .tick = length_,
            .exponent = exponent,
            .wave = off_line_ / wave_part() * 2.0,
            .excess = excess};
  }

  const History& history_;
  std::array<Rule, rule_count> rules_;
  bool predicted_ = false;  // what comes next was
  double in_row_ = 0;       // ticks in a row so far, up to the memory
  double ticks_ = 0;        // that were judged, up to the memory
  double samples_ = 0;      // the same of samples
  JoulesSquared timing_variance_;
  // How far the energy is off a straight line: over a tick, where its sample begins, and over two ticks in their
  // middle.
  JoulesSquared off_line_;
  double lines_ = 0;
  double window_part_ = 0.5;  // of a tick: what its sample covers
  JoulesSquared off_line_of_two_;
  double pairs_of_ticks_ = 0;
  std::optional<Interval> former_;  // just before
  Seconds length_;
  // Of ticks and their samples: the share in which both agree, how closely, and how far apart the others are.
  double same_ = 0;
  Watts near_;
  double pairs_ = 0;
  Watts apart_;
  double others_ = 0;
};

}  // namespace

Doubt Spread::over(Seconds time) const {
  const JoulesSquared at_most = level * square(time);
  const double part = std::min(time / tick, 2.0);
  const JoulesSquared by_law = at_tick * std::pow(part, exponent);
  if (by_law <= wave) {
    return Doubt::of(std::min(at_most, wave), wave_excess);
  }
  // An error that grows faster than a lasting difference has seldom begun so early.
  const double seldom = std::pow(part, std::max(0.0, exponent - 2.0));
  return Doubt::of(std::min(at_most, by_law), (excess + normal_kurtosis) / seldom - normal_kurtosis);
}

Doubt Spread::between(Seconds time) const {
  Spread both = *this;
  both.wave *= 2.0;
  return both.over(time);
}

Calibration calibrate(const History& history) {
  return Replay{history}.result();
}

}  // namespace zeus::measure
