#include "measure/rhythm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ranges>
#include <utility>

namespace zeus::measure {

namespace {

// Relative to the period: what brackets as close as they are looked for cannot show of how unevenly ticks come,
constexpr double unseen_unevenness = 0.005;
// in which steps it is found out,
constexpr double unevenness_step = 0.002;
// how quickly it is forgotten, with each tick,
constexpr double remembered = 0.99;
// and from where on it is another rhythm.
constexpr double most_uneven = 0.25;
// A bracket that is close by itself stays as it is, which says nothing of others.
constexpr double worth_narrowing = 2;
// Ticks older than so many periods are forgotten.
constexpr double horizon = 250;
// Ticks that bound the period by themselves.
constexpr std::size_t enough = 8;

}  // namespace

std::optional<Seconds> Rhythm::period() const {
  const bool known = shortest_ > Seconds{0} && longest_ < shortest_ * 1.5;
  return known ? std::optional{(shortest_ + longest_) * 0.5} : std::nullopt;
}

// Where the grid is at a number by all ticks that were seen.
Bracket Rhythm::grid_at(double number) const {
  Bracket grid{{std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}};
  for (std::size_t i = 0; i < count_; ++i) {
    const double periods = number - seen_[i].number;
    const Seconds at_least = (periods < 0 ? longest_ : shortest_) * periods;
    const Seconds at_most = (periods < 0 ? shortest_ : longest_) * periods;
    grid.earliest = std::max(grid.earliest, seen_[i].came.earliest + (at_least - uneven_));
    grid.latest = std::min(grid.latest, seen_[i].came.latest + (at_most + uneven_));
  }
  return grid;
}

void Rhythm::bound_period(Seconds shortest, Seconds longest) {
  shortest_ = std::max(shortest_, shortest);
  longest_ = longest_ > Seconds{0} ? std::min(longest_, longest) : longest;
}

// False where ticks as uneven as that cannot all be on one grid.
bool Rhythm::learn_grid() {
  if (count_ >= enough) {
    shortest_ = longest_ = Seconds{0};
  }
  for (std::size_t i = 1; i < count_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool in_order = seen_[i].number > seen_[j].number;
      const Seen& first = seen_[in_order ? j : i];
      const Seen& last = seen_[in_order ? i : j];
      const double part = 1.0 / (last.number - first.number);
      bound_period((last.came.earliest - first.came.latest - uneven_ * 2.0) * part,
                   (last.came.latest - first.came.earliest + uneven_ * 2.0) * part);
    }
  }
  grid_ = grid_at(number_);
  return shortest_ <= longest_ && grid_.earliest <= grid_.latest;
}

void Rhythm::start_with(const Bracket& tick) {
  count_ = 0;
  number_ = 0;
  grid_ = tick;
  keep(0, tick);
}

void Rhythm::keep(double number, const Bracket& tick) {
  const std::size_t place = count_ < depth ? count_++ : least_needed();
  seen_[place] = {number, tick};
}

// The tick that is too old, or else bounds the grid least closely. The first and the last ones bound the period best.
std::size_t Rhythm::least_needed() const {
  const auto [first, last] = std::ranges::minmax(seen_ | std::views::transform(&Seen::number));
  std::size_t least = 0;
  std::pair most{Seconds{-1}, 0.0};
  for (std::size_t i = 0; i < count_; ++i) {
    const Seen& seen = seen_[i];
    if (number_ - seen.number > horizon) {
      return i;
    }
    const Bracket grid = grid_at(seen.number);
    const Seconds beyond = std::min(grid.earliest - seen.came.earliest, seen.came.latest - grid.latest);
    const std::pair spare{beyond, std::min(seen.number - first, last - seen.number)};
    if (spare > most) {
      most = spare;
      least = i;
    }
  }
  return least;
}

Seconds Rhythm::around() const {
  return std::max(uneven_, (shortest_ + longest_) * (0.5 * unseen_unevenness));
}

Bracket Rhythm::tick_came(Bracket tick, bool watched) {
  if (latest_ && watched) {
    const Seconds still = tick.earliest - latest_->latest - uneven_ * 2.0;
    const Seconds around = tick.latest - latest_->earliest + uneven_ * 2.0;
    if (longest_ > Seconds{0} && (still > longest_ || around < shortest_)) {
      shortest_ = longest_ = uneven_ = Seconds{0};  // it is another rhythm
    }
    if (!period()) {
      bound_period(still, around);
    }
  }
  if (longest_ > Seconds{0}) {
    tick.earliest = std::max(tick.earliest, tick.latest - longest_ - uneven_);  // the last one before the later reading
  }
  latest_ = tick;
  if (!period()) {
    count_ = 0;
    return tick;
  }
  if (count_ == 0) {
    start_with(tick);
    return tick;
  }
  // How many periods have passed, at least and at most.
  const double fewest = std::max(1.0, std::ceil((tick.earliest - grid_.latest - uneven_) / longest_));
  const double most = std::floor((tick.latest - grid_.earliest + uneven_) / shortest_);
  if (fewest < most) {
    // One or the other: it says nothing, unless it is the grid that is not known any more.
    if (tick.width() < *period() * 0.5) {
      start_with(tick);
    }
    return tick;
  }
  const double passed =
      fewest == most ? fewest : std::max(1.0, std::round((tick.middle() - grid_.middle()) / *period()));
  const Bracket foreseen{grid_.earliest + shortest_ * passed, grid_.latest + longest_ * passed};
  if (std::max(tick.earliest - foreseen.latest, foreseen.earliest - tick.latest) > *period() * most_uneven) {
    start_with(tick);
    return tick;
  }
  number_ += passed;
  keep(number_, tick);
  uneven_ *= remembered;
  const Seconds step = *period() * unevenness_step;
  const Seconds limit = *period() * most_uneven;
  while (!learn_grid() && uneven_ < limit) {
    uneven_ += step;
  }
  return narrowed(tick);
}

Bracket Rhythm::narrowed(const Bracket& tick) const {
  if (!period() || count_ == 0) {
    return tick;
  }
  const double nearest = std::round((tick.middle() - grid_.middle()) / *period());
  std::optional<Bracket> found;
  for (const double passed : {nearest - 1, nearest, nearest + 1}) {
    const Bracket grid = grid_at(number_ + passed);
    if (grid.width() < Seconds{0} || grid.latest < tick.earliest || grid.earliest > tick.latest) {
      continue;
    }
    if (found) {
      return tick;  // one or the other
    }
    found = {grid.earliest - around(), grid.latest + around()};
  }
  if (!found || tick.width() < found->width() * worth_narrowing) {
    return tick;
  }
  return {std::max(tick.earliest, found->earliest), std::min(tick.latest, found->latest)};
}

Bracket Rhythm::after(Instant instant) const {
  const double passed = std::ceil((instant - grid_.middle()) / *period());
  const bool later = passed > 0;
  return {grid_.earliest + ((later ? shortest_ : longest_) * passed - uneven_),
          grid_.latest + ((later ? longest_ : shortest_) * passed + uneven_)};
}

}  // namespace zeus::measure
