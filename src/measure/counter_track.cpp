#include "measure/counter_track.hpp"

#include "base/random.hpp"
#include "measure/counter_gain.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr Seconds search_step{2.5e-3};
constexpr Seconds least_step{2e-4};
constexpr double steps_per_period = 100;
constexpr double phase_gain = 0.3;
constexpr double most_periods_behind = 100;

}  // namespace

CounterTrack::Observation CounterTrack::observe(Instant at, Seconds latency, Joules value) {
  const RawReading reading{at, latency, value};
  if (!reading_) {
    begin_with(reading);
    return Observation::first;
  }
  if (at < reading_->at) {
    return Observation::unchanged;
  }
  const auto gained = counter_gain(counter_, reading_->value, value, at - reading_->at);
  // Another thread has read at the same time: which of the two values is the older one is not known by when they came.
  if (!gained && at - latency * 0.5 <= reading_->at + reading_->latency * 0.5) {
    return Observation::unchanged;
  }
  if (!gained) {
    pause();
    ++epoch_;
    begin_with(reading);
    return Observation::broken;
  }
  const Instant earliest = reading_->at - reading_->latency * 0.5;
  const Seconds late = at - next_reading(reading_->at);
  reading_ = reading;
  if (*gained == Joules{0}) {
    return Observation::unchanged;
  }
  total_ += *gained;
  add_tick(earliest, at + latency * 0.5, late);
  return Observation::ticked;
}

// The tick whose value the reading shows has come before: if the rhythm is known well enough, so is its time.
void CounterTrack::begin_with(const RawReading& reading) {
  reading_ = unseen_ = reading;
  unseen_total_ = total_;
  if (period_) {
    const Instant expected = expected_after(reading.at - *period_);
    const Seconds doubt = step() + rhythm_doubt(expected);
    if (doubt < *period_ * 0.2) {
      ticks_.push_back({next_number_ - 1, expected - doubt, std::min(expected + doubt, reading.at), total_, {}});
    }
  }
}

void CounterTrack::add_tick(Instant earliest, Instant latest, Seconds late) {
  Tick tick{next_number_++, earliest, latest, total_, {}};
  const bool looked_late = late >= tick.width() * 0.5;  // and that alone made the bracket wide
  const bool narrowed = period_ && narrow_by_rhythm(tick);
  if (unseen_ && period_) {
    ticks_.clear();  // the guess at its time: the next tick says better
  }
  if (ticks_.empty()) {
    unseen_until_ = earliest;
  }
  if (!narrowed || !looked_late || ticks_.empty()) {
    learn_rhythm(tick, looked_late);
  }
  ticks_.push_back(tick);
  place_unseen_tick();
  if (ticks_.size() > depth) {
    ticks_.pop_front();
  }
}

// What the rhythm says narrows a bracket that is wide because nobody looked in time.
bool CounterTrack::narrow_by_rhythm(Tick& tick) const {
  const Instant expected = expected_after(tick.latest - *period_ * 0.5);
  const Seconds doubt = step() + rhythm_doubt(expected) * 3.0;
  const bool narrower = tick.width() > doubt * 4.0 && doubt < *period_ * 0.2 && expected + doubt > tick.earliest &&
                        expected - doubt < tick.latest;
  if (narrower) {
    tick.earliest = std::max(tick.earliest, expected - doubt);
    tick.latest = std::min(tick.latest, expected + doubt);
  }
  tick.earliest = std::max(tick.earliest, tick.latest - *period_);
  return narrower;
}

void CounterTrack::learn_rhythm(const Tick& tick, bool looked_late) {
  if (!period_) {
    if (!ticks_.empty()) {
      start_rhythm(tick, ticks_.back());
    }
    return;
  }
  if (tick.width() > *period_ * 0.1) {
    if (!looked_late) {
      grid_error_ =
          std::min(*period_ * 0.5, grid_error_ * 1.5 + step());  // it came unexpectedly: look earlier next time
    }
    return;
  }
  const double passed = std::max(1.0, std::round((tick.middle() - grid_) / *period_));
  const Seconds off = tick.middle() - (grid_ + *period_ * passed);
  if (std::abs(off.value()) > 0.25 * period_->value()) {
    const bool adjacent = !ticks_.empty() && tick.middle() - ticks_.back().middle() < *period_ * 1.5;
    if (adjacent) {
      start_rhythm(tick, ticks_.back());
    } else {
      period_doubt_ = std::max({period_doubt_, tick.width() * 2.0, step()});
      start_grid(tick);
    }
    return;
  }
  const bool after_pause = ticks_.empty();
  if (after_pause && passed >= periods_behind_) {
    // After a pause: the longer the base, the better the period.
    *period_ += off / passed;
    period_doubt_ = (tick.width() + grid_error_) / passed;
    periods_behind_ = std::min(passed, most_periods_behind);
    anchor_ = tick;
  } else if (!after_pause && anchor_) {
    const Seconds span = tick.middle() - anchor_->middle();
    const double periods = std::round(span / *period_);
    if (periods >= periods_behind_) {
      period_ = span / periods;
      period_doubt_ = (tick.width() + anchor_->width()) * (0.5 / periods);
      periods_behind_ = std::min(periods, most_periods_behind);
    }
    if (periods >= 2 * most_periods_behind) {
      anchor_ = tick;
    }
  }
  grid_ = grid_ + *period_ * passed + off * (after_pause ? 1.0 : phase_gain);
  grid_error_ = grid_error_ * 0.8 + Seconds{std::abs(off.value())} * 0.2;
}

void CounterTrack::start_rhythm(const Tick& tick, const Tick& before) {
  period_ = tick.middle() - before.middle();
  period_doubt_ = (tick.width() + before.width()) * 0.5;
  start_grid(tick);
}

void CounterTrack::start_grid(const Tick& tick) {
  periods_behind_ = 1;
  grid_ = tick.middle();
  grid_error_ = tick.width();
  anchor_ = tick;
}

// Its energy is known from the first reading; its time follows from the rhythm, some periods before the next tick.
void CounterTrack::place_unseen_tick() {
  if (!unseen_ || !period_) {
    return;
  }
  Tick& next = ticks_.front();
  // Ticks that nobody saw may have come in between.
  const Seconds apart = *period_ * std::max(1.0, std::ceil((next.earliest - unseen_->at) / *period_ - 0.1));
  const Instant earliest = next.earliest - apart - period_doubt_;
  const Instant latest = next.latest - apart + period_doubt_;
  // A tick there may have come just after the reading, seen together with the next one by who looked late: then the one
  // that the reading shows was a period earlier. It is at either end of that period, which is more doubt than anywhere.
  const bool before_or_after = latest > unseen_->at && unseen_until_ < latest;
  Tick tick{.number = next.number - 1,
            .earliest = before_or_after ? unseen_->at - *period_ : std::min(earliest, unseen_->at),
            .latest = std::min(latest, unseen_->at),
            .total = unseen_total_,
            .placed_within = before_or_after ? *period_ * 1.1 : period_doubt_ * 2.0};
  if (unseen_->value == Joules{0}) {
    // A counter that has not counted anything yet was started since the tick before: its first step is no whole one.
    tick.latest = unseen_->at;
    tick.placed_within.reset();
  } else if (!before_or_after) {
    next.latest = std::min(next.latest, tick.latest + apart + period_doubt_);  // what bounds the one bounds the other
  }
  ticks_.push_front(tick);
  unseen_.reset();
}

void CounterTrack::pause() {
  ticks_.clear();
  reading_.reset();
  unseen_.reset();
  ++next_number_;  // the number of the tick before the first one seen
}

Seconds CounterTrack::step() const {
  return std::max(least_step, *period_ / steps_per_period);
}

// How far a tick may be from where the rhythm says; it grows while nobody looks.
Seconds CounterTrack::rhythm_doubt(Instant expected) const {
  const double periods = std::max(0.0, (expected - grid_) / *period_ - 1.0);
  return std::min(*period_ * 0.5, grid_error_ + period_doubt_ * (periods + 1.0));
}

Instant CounterTrack::expected_after(Instant instant) const {
  const double passed = std::ceil((instant - grid_) / *period_);
  return grid_ + *period_ * passed;
}

Instant CounterTrack::next_reading(Instant now) const {
  if (!reading_) {
    return now;
  }
  if (!period_) {
    return std::max(now, reading_->at + search_step);
  }
  const Instant after = unseen_          ? unseen_->at - step() - rhythm_doubt(unseen_->at)
                        : ticks_.empty() ? reading_->at
                                         : ticks_.back().middle() + *period_ * 0.5;
  const Instant expected = expected_after(after);
  // Where within its bracket a tick falls depends neither on the rhythm nor on where the ticks before it fell.
  const auto number = static_cast<std::uint32_t>(next_number_);
  const double offset = static_cast<double>(philox_block({number, 0, 0, 0}, {})[0]) * 0x1p-32;
  const Instant early = expected - step() * offset - rhythm_doubt(expected);
  if (reading_->at < early) {
    return std::max(now, early);
  }
  const Seconds overdue =
      std::max(Seconds{0}, reading_->at - expected);  // a counter that stands still is asked less often
  return std::max(now, reading_->at + std::max(step(), overdue * 0.1));
}

}  // namespace zeus::measure
