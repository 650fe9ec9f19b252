#include "measure/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double error_memory = 48;  // ticks over which errors are averaged: the whole history
constexpr double wave_memory = 12;
// How much of a wave's variance shows at the middle of a straight line over two ticks, and how much of the variance
// that independent changes add in one tick.
constexpr double wave_in_two = 1.5;
constexpr double wander_in_two = 0.5;
constexpr double long_mean = 12;  // ticks in the longest mean that predicts power
// The kurtosis of a few values comes out too low or too high, so this many normal values are added to them.
constexpr double prior_misses = 2;
constexpr double noise = 3;  // two powers are the same if they differ by fewer standard deviations
constexpr double pair_tolerance = 0.01;
constexpr double steepest = 3;  // the exponent of a step at an unknown time

// Moves `mean` towards `value`. While `count` grows, it is the mean of all values; then recent values count more.
template <typename T>
void approach(T& mean, T value, double count) {
  mean += (value - mean) / count;
}

// A simple way to predict, and its errors.
struct Rule {
  Watts predicted;
  Watts former;                                           // what was predicted for the latest tick
  JoulesSquared at_tick;                                  // mean square error at the end of a tick
  decltype(JoulesSquared{} * JoulesSquared{}) at_tick_4;  // mean fourth power of that error
  JoulesSquared at_sample;                                // mean square error where a sample begins
  WattsSquared level_miss;                                // mean square error of the sample's power
};

// The energy between two ticks in a row.
struct Interval {
  Seconds length;
  Joules energy;
  JoulesSquared timing_variance;  // from the brackets of the two ticks
  std::optional<Watts> sample;

  Interval(const Tick& from, const Tick& to)
      : length{to.middle() - from.middle()}, energy{to.total - from.total}, sample{to.sample} {
    // If `from` was placed by `to`, both are off by the same time, and only the placing adds an error.
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

  // `judge`: the tick was predicted, so compare the prediction with it.
  void learn(const Interval& interval, bool judge) {
    if (judge) {
      ticks_ = std::min(ticks_ + 1, error_memory);
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
    // Two ticks that were seen late may seem closer to one another than the sample reaches back: it shows nothing then.
    if (interval.sample && history_.timing && interval.length > history_.timing->window) {
      learn_sample(interval, *interval.sample, judge);
    }
  }

  void learn_sample(const Interval& interval, Watts level, bool judge) {
    const Seconds window = history_.timing->window;
    window_part_ = std::min(window / interval.length, 1.0);  // an interval after a late tick may be the shorter one
    lines_ = std::min(lines_ + 1, wave_memory);
    approach(off_line_, square((level - interval.mean()) * window), lines_);
    learn_pair(interval, level, window);
    if (!judge) {
      return;
    }
    samples_ = std::min(samples_ + 1, error_memory);
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
    const Watts near = std::max(Watts{noise * root(interval.timing_variance) / rest}, interval.mean() * pair_tolerance);
    const Watts apart = abs(level - before);
    const bool same = apart <= near;
    pairs_ = std::min(pairs_ + 1, error_memory);
    approach(same_, same ? 1.0 : 0.0, pairs_);
    approach(near_, near, pairs_);
    if (!same) {
      others_ = std::min(others_ + 1, error_memory);
      approach(apart_, apart, others_);
    }
  }

  [[nodiscard]] Habits habits() const {
    // The powers of two mixtures differ by anything from 0 to twice the mean difference.
    const double by_chance = others_ > 0 ? std::min(1.0, near_ / (apart_ * 2.0)) : 0.0;
    const double flat = std::max(0.0, (same_ - by_chance) / std::max(1e-9, 1.0 - by_chance));
    const double chance = same_ > 0 ? std::min(1.0, by_chance * (1.0 - flat) / same_) : 1.0;
    // Waves and independent changes of power both lead the energy away from a straight line. Over two ticks, a wave
    // leads it no farther than over one, while independent changes have twice the effect. This separates the two.
    const double part = window_part_;
    const double of_wander = part * (1.0 - part);
    const double determinant = wave_part() * wander_in_two - of_wander * wave_in_two;
    const JoulesSquared wander = std::clamp((off_line_of_two_ * wave_part() - off_line_ * wave_in_two) / determinant,
                                            JoulesSquared{}, off_line_ / of_wander);
    const JoulesSquared wave = std::max(JoulesSquared{}, off_line_ - wander * of_wander) / wave_part();
    return {.wave = wave, .wander = wander, .chance = chance, .steps = -std::log(std::max(flat, 1.0 / error_memory))};
  }

  // How much of a wave's variance shows where the sample begins, if its phase there and at both ticks is arbitrary.
  [[nodiscard]] double wave_part() const {
    return 1.0 + window_part_ * window_part_ + (1.0 - window_part_) * (1.0 - window_part_);
  }

  [[nodiscard]] const Rule& best() const { return *std::ranges::min_element(rules_, {}, &Rule::at_tick); }

  // Mean square error of the prediction if any power from zero to the maximum may follow.
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
    if (samples_ == 0 || length_ <= history_.timing->window) {
      return {.level = at_tick / square(length_), .at_tick = at_tick, .tick = length_, .excess = excess};
    }
    const Seconds window = history_.timing->window;
    const JoulesSquared at_sample = std::max(JoulesSquared{}, rule.at_sample - timing_variance_);
    double exponent = 0;
    if (at_tick > at_sample) {
      exponent = std::log(at_tick / std::max(at_sample, at_tick * 1e-6)) / std::log(length_ / (length_ - window));
      // Steeper than any step can be: it is a wave that happens to cross the line where the sample begins.
      exponent = exponent > 2 * steepest ? 0.0 : std::min(exponent, steepest);
    }
    // The power must have differed from the prediction at some time by at least the mean difference.
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
  bool predicted_ = false;  // whether there is a prediction for the next tick
  double in_row_ = 0;       // ticks in a row so far, up to the memory
  double ticks_ = 0;        // ticks that were judged, up to the memory
  double samples_ = 0;      // samples that were judged, up to the memory
  JoulesSquared timing_variance_;
  // The mean square of the energy's distance from a straight line: off_line_ over one tick, where its sample begins;
  // off_line_of_two_ over two ticks, where they meet.
  JoulesSquared off_line_;
  double lines_ = 0;
  double window_part_ = 0.5;  // the part of a tick that its sample covers
  JoulesSquared off_line_of_two_;
  double pairs_of_ticks_ = 0;
  std::optional<Interval> former_;  // the one just before
  Seconds length_;
  // Of ticks with a sample: the share whose two parts have the same power, the tolerance for that, and the mean
  // difference of all others.
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
  // An error that grows faster than a constant difference would has seldom begun so soon.
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
