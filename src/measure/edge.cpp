#include "measure/edge.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr std::size_t reach = 2;   // ticks used on either side
constexpr Seconds long_wait{1.0};  // after this long without a tick, the counter counts as standing still
static_assert(Cells::most >= 2 * (2 * reach + 1));

void add_cells_between(const History& history, const Tick& lower, const Tick& upper, Cells& cells) {
  const Instant from = lower.middle();
  const Instant to = upper.middle();
  const Joules energy = upper.total - lower.total;
  const Seconds brackets{std::hypot(lower.width().value(), upper.width().value()) / std::sqrt(12.0)};
  if (upper.sample && history.timing->window < (to - from) * 0.9) {
    const Instant knot = to - history.timing->window;
    const Watts before = (energy - *upper.sample * history.timing->window) / (knot - from);
    if (before > Watts{0}) {
      cells.add({from, knot, before, before * (brackets / (knot - from))});
      cells.add({knot, to, *upper.sample, Watts{0}});
      return;
    }
  }
  const Watts mean = energy / (to - from);
  cells.add({from, to, mean, mean * (brackets / (to - from))});
}

// The driver's ring of samples shows the power levels before the first tick in a row.
void add_cells_before(const History& history, Instant first, Cells& cells) {
  if (!history.timing) {
    return;
  }
  for (const double periods : {2.0, 1.0, 0.0}) {
    const Instant to = first - history.timing->period * periods;
    if (const auto sample = history.sample_at(to)) {
      cells.add({to - history.timing->window, to, *sample, Watts{0}});
    }
  }
}

Edge settled_edge(const History& history, const Calibration& calibration, std::size_t lower, Instant at) {
  const auto& ticks = history.ticks;
  // Ticks that were all seen late have no period yet.
  Cells cells{.tick = history.period.value_or(ticks[lower + 1].middle() - ticks[lower].middle()),
              .most_power = history.most};
  const std::size_t oldest = ticks.size() - history.row;
  const std::size_t first = lower - std::min(reach, lower - oldest);
  const std::size_t last = std::min(lower + reach + 1, ticks.size() - 1);
  if (first == oldest) {
    add_cells_before(history, ticks[first].middle(), cells);
  }
  std::size_t start = 0;
  for (std::size_t i = first; i < last; ++i) {
    start = i == lower ? cells.count : start;
    add_cells_between(history, ticks[i], ticks[i + 1], cells);
  }
  Joules energy = ticks[lower].total;
  std::size_t here = start;
  while (here + 1 < cells.count && cells.at[here].to <= at) {
    energy += cells.at[here].power * cells.at[here].length();
    ++here;
  }
  const CellPath path = path_within(cells, here, at, calibration.habits);
  // Inside the first cell, the energy depends on the times of both ticks; beyond it, only on the time of the upper one.
  const double share = std::clamp((at - cells.at[start].from) / cells.at[start].length(), 0.0, 1.0);
  const Tick& before = ticks[lower];
  const Tick& after = ticks[lower + 1];
  return {
      .at = at,
      .total = energy + path.energy,
      .epoch = history.epoch,
      .settled = true,
      .timing = {{{before.number, path.power * -(1.0 - share), before.placed_within.value_or(before.width()),
                   before.middle()},
                  {after.number, path.power * -(before.placed_within ? 1.0 : share), after.width(), after.middle()}}},
      .since = cells.at[here].from,
      .deviation = path.deviation,
      .unseen = unseen_at(calibration.unseen, history, before),
      .own = square(history.resolution) / 12.0};
}

Edge predicted_edge(const History& history, const Calibration& calibration, Instant at) {
  const Tick& last = history.ticks.back();
  const Seconds elapsed = std::max(Seconds{0}, at - last.middle());
  return {.at = at,
          .total = last.total + calibration.power * elapsed,
          .epoch = history.epoch,
          .timing = {{{last.number, -calibration.power, last.width(), last.middle()},
                      {last.number + 1, Watts{0}, Seconds{0}, last.middle()}}},
          .since = last.middle(),
          .spread = calibration.spread,
          .unseen = unseen_at(calibration.unseen, history, last),
          .own = square(history.resolution) / 12.0};
}

Doubt own_stray(const Edge& edge) {
  const Seconds into = edge.at - edge.since;
  return edge.settled ? edge.deviation.at(into) : edge.spread.over(into);
}

bool in_one_stretch(const Edge& begin, const Edge& end) {
  return begin.settled == end.settled && begin.since == end.since;
}

Doubt stray(const Edge& begin, const Edge& end) {
  if (in_one_stretch(begin, end)) {
    const Seconds apart = end.at - begin.at;
    return end.settled ? end.deviation.between(apart) : end.spread.between(apart);
  }
  Doubt both = own_stray(begin) + own_stray(end);
  const bool within_a_tick = end.at - begin.at < end.spread.tick;
  if (begin.settled && !end.settled && begin.timing[1].tick == end.timing[0].tick && within_a_tick) {
    both += Doubt::of(end.spread.wave, wave_excess);  // as between two predictions of one tick
  }
  return both;
}

// The part of the interval that comes from ticks that did not come.
Joules overdue(const Edge& begin, const Edge& end) {
  if (in_one_stretch(begin, end) && end.at > end.since) {
    return end.overdue * ((end.at - begin.at) / (end.at - end.since));
  }
  return begin.overdue + end.overdue;
}

Stray stray_at(const Edge& edge, JoulesSquared variance) {
  const Seconds before = edge.at - edge.since;
  return {.variance = variance, .before = before, .after = edge.settled ? edge.deviation.length - before : Seconds{0}};
}

// A tick may have come anywhere in its bracket. If two edges depend on the same tick, its error counts once.
std::array<TickError, 4> tick_errors(const Edge& begin, const Edge& end) {
  std::array<TickError, 4> errors;
  std::array<Watts, 2> shared;
  for (std::size_t b = 0; b < 2; ++b) {
    const Edge::Timing& of_begin = begin.timing[b];
    Watts weight = of_begin.weight;
    for (std::size_t i = 0; i < 2; ++i) {
      if (end.timing[i].tick == of_begin.tick) {
        shared[i] = weight;
        weight = Watts{0};
      }
    }
    errors[b] = {-weight * of_begin.bracket, of_begin.bracket, of_begin.middle};
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Edge::Timing& of_end = end.timing[i];
    errors[2 + i] = {(of_end.weight - shared[i]) * of_end.bracket, of_end.bracket, of_end.middle};
  }
  return errors;
}

// The energy that a counter misses if it measures only part of the time. Each change of power is assumed to occur in
// the middle of the unmeasured time. Over ups and downs the errors cancel, except for the difference between the ends
// of the window. The true moment varies from change to change; but if the load keeps step with the counter, it is the
// same in every cycle.
Doubt unseen_doubt(const Edge& begin, const Edge& end) {
  const std::uint64_t from = begin.timing[0].tick;
  const std::uint64_t to = end.timing[0].tick;
  if (!end.unseen.suspected || to < from) {
    return {};
  }
  const JoulesSquared apart = std::max(JoulesSquared{}, end.unseen.variance - begin.unseen.variance);
  const double cycles = static_cast<double>(to - from) / std::max(1.0, end.unseen.cycle);
  const JoulesSquared between =
      begin.unseen.suspected ? square(end.unseen.level - begin.unseen.level) / 4.0 : JoulesSquared{};
  return Doubt::of(apart * std::max(1.0, cycles) + between + end.unseen.own_variance * 2.0, normal_excess);
}

}  // namespace

std::optional<Edge> edge(const History& history, const Calibration& calibration, Instant at) {
  const auto& ticks = history.ticks;
  if (history.row == 0) {
    return std::nullopt;
  }
  if (at >= ticks.back().middle()) {
    const bool stands_still = at - ticks.back().middle() > std::max(long_wait, history.period.value_or(0_s) * 5.0);
    return stands_still ? std::nullopt : std::optional{predicted_edge(history, calibration, at)};
  }
  const std::size_t first = ticks.size() - history.row;
  for (std::size_t i = ticks.size() - 1; i > first; --i) {
    if (at >= ticks[i - 1].middle()) {
      return settled_edge(history, calibration, i - 1, at);
    }
  }
  return std::nullopt;
}

bool is_overdue(const History& history, Instant at) {
  constexpr double periods = 3;
  return history.row > 0 && at - history.ticks.back().middle() > history.period.value_or(history.update()) * periods;
}

bool is_final(const History& history, Instant at) {
  const auto& ticks = history.ticks;
  if (history.row <= reach || ticks[ticks.size() - reach].middle() <= at) {
    return false;
  }
  const auto row = ticks.end() - static_cast<std::ptrdiff_t>(history.row);
  const auto after = std::find_if(row, ticks.end(), [at](const Tick& tick) { return tick.middle() > at; });
  const auto upper = static_cast<std::size_t>(after - ticks.begin());
  return !history.may_move(upper) && (after == row || !history.may_move(upper - 1));
}

EnergyBetween energy_between(const Edge& begin, const Edge& end) {
  EnergyBetween energy{.value = end.total - begin.total,
                       .half_width = {},
                       .of_ticks = {},
                       .settled = begin.settled && end.settled,
                       .ticks = tick_errors(begin, end),
                       .strays = {}};
  Doubt of_ticks;
  for (const TickError& error : energy.ticks) {
    of_ticks += Doubt::uniform(error.range);
  }
  const JoulesSquared gathered = std::max(JoulesSquared{}, end.gathered - begin.gathered);
  const Doubt always = of_ticks + unseen_doubt(begin, end) + Doubt::of(begin.own, uniform_excess) +
                       Doubt::of(end.own, uniform_excess) + Doubt::of(gathered, normal_excess);
  const Doubt astray = stray(begin, end);
  energy.half_width = half_width_95(always, astray) + overdue(begin, end);
  energy.of_ticks = of_ticks.half_width_95();
  const bool one_stretch = in_one_stretch(begin, end);
  energy.strays[0] = stray_at(begin, one_stretch ? JoulesSquared{} : own_stray(begin).variance);
  energy.strays[1] = stray_at(end, one_stretch ? astray.variance : own_stray(end).variance);
  return energy;
}

}  // namespace zeus::measure
