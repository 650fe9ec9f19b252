#include "measure/unseen.hpp"

#include <algorithm>

namespace zeus::measure {

namespace {

constexpr int enough_matches = 3;    // changes in a row, each matched by chance in one of fifty cases
constexpr double noticeable = 0.05;  // relative: a smaller difference of powers is not a change
constexpr double match_tolerance = 0.005;
constexpr double change_memory = 12;  // changes over which their squares are averaged
constexpr double repeating = 0.05;    // relative to the mean square difference of adjacent samples
constexpr int enough_pairs = 3;       // pairs of samples needed to rule out that they repeat

bool both_sampled(const Tick& before, const Tick& tick) {
  return tick.follows && before.sample && tick.sample;
}

// A cycle that is too long to have been seen repeating cannot be ruled out.
bool may_repeat_after(const History& history, std::size_t cycle, WattsSquared usual_change) {
  WattsSquared squares;
  int pairs = 0;
  for (std::size_t i = cycle; i < history.ticks.size(); ++i) {
    const Tick& before = history.ticks[i - cycle];
    const Tick& tick = history.ticks[i];
    if (before.sample && tick.sample && tick.number - before.number == cycle) {
      squares += square(*tick.sample - *before.sample);
      ++pairs;
    }
  }
  return pairs < enough_pairs || squares <= usual_change * (repeating * pairs);
}

}  // namespace

JoulesSquared unseen_between(const Tick& before, const Tick& tick, const std::optional<SensorTiming>& timing) {
  if (!both_sampled(before, tick)) {
    return {};
  }
  return square((*tick.sample - *before.sample) * (tick.middle() - before.middle() - timing->window)) / 12.0;
}

Unseen unseen_now(const History& history) {
  int matches = 0;
  double changes = 0;
  WattsSquared usual_change;
  Seconds length;
  for (std::size_t i = 1; i < history.ticks.size(); ++i) {
    const Tick& before = history.ticks[i - 1];
    const Tick& tick = history.ticks[i];
    if (!both_sampled(before, tick)) {
      continue;
    }
    const Seconds apart = tick.middle() - before.middle();
    const Watts change = abs(*tick.sample - *before.sample);
    if (change > *tick.sample * noticeable) {
      const Watts mean = (tick.total - before.total) / apart;
      const Watts doubt =
          mean * (std::hypot(before.width().value(), tick.width().value()) / std::sqrt(12.0) / apart.value());
      matches = abs(mean - *tick.sample) <= doubt * 3.0 + *tick.sample * match_tolerance ? matches + 1 : 0;
    }
    changes = std::min(changes + 1, change_memory);
    usual_change += (square(change) - usual_change) / changes;
    length = apart - history.timing->window;
  }
  Unseen now{.suspected = matches >= enough_matches};
  if (now.suspected) {
    std::size_t cycle = 1;
    while (!may_repeat_after(history, cycle, usual_change)) {
      ++cycle;
    }
    now.cycle = static_cast<double>(cycle);
    now.own_variance = usual_change * square(length) / 6.0;
  }
  return now;
}

Unseen unseen_at(const Unseen& now, const History& history, const Tick& tick) {
  Unseen then = now;
  then.variance = tick.unseen;
  if (now.suspected && tick.sample && history.period) {
    then.level = *tick.sample * (*history.period - history.timing->window);
  }
  return then;
}

}  // namespace zeus::measure
