// Predicts what a load draws after the last tick of its counter, by whichever simple rule has predicted it best so far,
// and how far that goes astray, by what the same rule missed lately: at the tick's end, and before it where a sample of
// power tells. Not thread-safe; whoever owns it takes turns. Bounded memory.
#pragma once

#include "measure/doubt.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace zeus::measure {

// More than any GPU is allowed to draw, for those that do not tell their limit.
inline constexpr Watts most_of_any_gpu{1500};

// How far a prediction of energy is off after a time: at first as far as power differs from what was predicted; later
// by a power law between what was missed where a sample begins and at the tick's end. Its exponent is 0 for a wave, of
// which no more is missing later than sooner, 2 for a power that was wrong from the start, 3 for a step at any time.
struct Spread {
  double level = 0;    // W^2
  double at_tick = 0;  // J^2
  Seconds tick;        // a tick's length
  double exponent = 2;
  double wave = 0;    // J^2, at least
  double excess = 0;  // kurtosis of what was missed, beyond a normal one's

  [[nodiscard]] Doubt over(Seconds time) const;
  // From one prediction to another of the same tick: a wave may then take from the one what it gives to the other.
  [[nodiscard]] Doubt between(Seconds time) const;
};

class Forecast {
 public:
  explicit Forecast(Watts most) : most_{most} {}

  // A tick has come, so long after the one before. `timing_variance` (J^2) is what the brackets of the two leave open.
  // A tick that was not predicted from another one just before it is learnt from, but not judged.
  void tick_came(Joules energy, Seconds length, double timing_variance, bool judge);
  // The sample of that tick: the mean power over its last `window`.
  void sample_came(Watts level, Seconds window);
  // Nobody has looked for a while; these samples are of the time just before.
  void begin_with(std::span<const Watts> samples);

  [[nodiscard]] bool knows() const { return rules_[as_long].predicted > Watts{0}; }
  [[nodiscard]] Watts power() const { return rules_[best()].predicted; }
  // `wave` (J^2) is the least that energy wanders from its mean.
  [[nodiscard]] Spread spread(double wave) const;

 private:
  enum RuleName : std::size_t { as_last_tick, as_last_level, as_long, rule_count };
  struct Rule {
    Watts predicted;
    Watts former;           // what was predicted for the tick that has come
    double at_tick = 0;     // mean square of what it missed (J^2) at the end of a tick
    double at_tick_4 = 0;   // mean fourth power
    double at_sample = 0;   // where a sample begins
    double level_miss = 0;  // of the sample itself (W^2)
  };

  [[nodiscard]] std::size_t best() const;

  [[nodiscard]] double level_of_anything() const;

  Watts most_;  // that the device may draw
  std::array<Rule, rule_count> rules_;
  double ticks_ = 0;    // that were judged, up to the memory
  double samples_ = 0;  // the same of samples
  double timing_variance_ = 0;
  Joules energy_;
  Seconds length_;
  Seconds window_;
  bool judged_ = false;
};

}  // namespace zeus::measure
