#include "measure/counter_track.hpp"

#include "base/random.hpp"
#include "measure/counter_gain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::measure {

namespace {

constexpr Seconds search_step{2.5e-3};
constexpr Seconds least_step{2e-4};
constexpr double steps_per_period = 100;
constexpr double looks_remembered = 8;  // of which the usual lateness is the mean

}  // namespace

CounterTrack::CounterTrack(device::EnergyCounter counter, std::optional<SensorTiming> timing, Watts most,
                           std::uint32_t whose)
    : counter_{counter}, whose_{whose} {
  // One more than is kept, before the oldest is forgotten.
  history_.ticks.reserve(History::ticks_kept + 1);
  history_.runs.reserve(History::runs_kept + 1);
  history_.resolution = counter.resolution;
  history_.timing = timing;
  history_.most = most;
}

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
  // Another thread has read at the same time: the times of the two readings do not show which value is older.
  if (!gained && at - latency * 0.5 <= reading_->at + reading_->latency * 0.5) {
    return Observation::unchanged;
  }
  if (!gained) {
    pause();
    ++history_.epoch;
    begin_with(reading);
    return Observation::broken;
  }
  const Instant earliest = reading_->at - reading_->latency * 0.5;
  if (const Seconds late = at - next_reading(reading_->at); late > Seconds{0}) {
    usually_late_ += (late - usually_late_) * (1.0 / looks_remembered);
  }
  reading_ = reading;
  if (*gained == Joules{0}) {
    return Observation::unchanged;
  }
  total_ += *gained;
  add_tick(earliest, at + latency * 0.5);
  return Observation::ticked;
}

// The tick whose value the reading shows has come before. If the rhythm is known well enough, so is the tick's time.
void CounterTrack::begin_with(const RawReading& reading) {
  reading_ = unseen_ = reading;
  unseen_placed_ = false;
  unseen_total_ = total_;
  if (const auto period = rhythm_.period()) {
    const Bracket expected = rhythm_.after(reading.at - *period);
    if (expected.width() < *period * 0.4) {
      push({.number = next_number_ - 1,
            .earliest = expected.earliest - step(),
            .latest = std::min(expected.latest + step(), reading.at),
            .total = total_});
    }
  }
}

void CounterTrack::add_tick(Instant earliest, Instant latest) {
  if (unseen_ && rhythm_.period() && !unseen_placed_) {
    history_.ticks.resize(history_.ticks.size() -
                          history_.row);  // the guess of its time: the next tick shows it better
    history_.row = 0;
  }
  const Bracket came = rhythm_.tick_came({earliest, latest}, !seen_none());
  history_.period = rhythm_.period();
  if (seen_none()) {
    unseen_until_ = earliest;
  }
  push({.number = next_number_++, .earliest = came.earliest, .latest = came.latest, .total = total_});
  place_unseen_tick();
  place_rough_ticks();
  history_.assign_samples();
}

void CounterTrack::push(const Tick& tick) {
  history_.ticks.push_back(tick);
  history_.ticks.back().follows = !seen_none();
  ++history_.row;
  forget_oldest();
}

void CounterTrack::forget_oldest() {
  while (history_.ticks.size() > History::ticks_kept) {
    history_.ticks.erase(history_.ticks.begin());
  }
  history_.row = std::min(history_.row, history_.ticks.size());
}

// Its energy is known from the first reading. Its time follows from the rhythm, some periods before the next tick, and
// is computed again when the tick after that one has shown when the next tick came.
void CounterTrack::place_unseen_tick() {
  const auto period = rhythm_.period();
  if (!unseen_ || !period) {
    return;
  }
  if (unseen_placed_) {
    history_.ticks.erase(history_.ticks.end() - static_cast<std::ptrdiff_t>(history_.row));
    --history_.row;
  }
  const Seconds period_doubt = rhythm_.period_doubt();
  Tick& next = history_.ticks[history_.ticks.size() - history_.row];
  // Ticks that were not seen may have come in between.
  const Seconds apart = *period * std::max(1.0, std::ceil((next.earliest - unseen_->at) / *period - 0.1));
  const Instant earliest = next.earliest - apart - period_doubt;
  const Instant latest = next.latest - apart + period_doubt;
  // A tick may have come just after the reading and been seen together with the next one, because the next look was
  // late. Then the tick that the reading shows came a period earlier. It is at one end of that period or at the other,
  // which is more uncertain than anywhere in between.
  const bool before_or_after = latest > unseen_->at && unseen_until_ < latest;
  Tick tick{.number = next.number - 1,
            .earliest = before_or_after ? unseen_->at - *period : std::min(earliest, unseen_->at),
            .latest = std::min(latest, unseen_->at),
            .total = unseen_total_,
            .placed_within = before_or_after ? *period * 1.1 : period_doubt * 2.0};
  if (unseen_->value == Joules{0}) {
    // A counter at zero was started after the last tick: its first step is not a whole one.
    tick.latest = unseen_->at;
    tick.placed_within.reset();
    tick.came_in_rhythm = false;
  } else if (!before_or_after) {
    next.latest =
        std::min(next.latest, tick.latest + apart + period_doubt);  // what bounds one of them bounds the other
  }
  next.follows = true;
  history_.ticks.insert(history_.ticks.end() - static_cast<std::ptrdiff_t>(history_.row), tick);
  ++history_.row;
  forget_oldest();
  if (std::exchange(unseen_placed_, true)) {
    unseen_.reset();
  }
}

// By what is known now of when ticks come.
void CounterTrack::place_rough_ticks() {
  const std::size_t end = history_.ticks.size();
  for (std::size_t i = end - std::min(history_.row, History::placed_by); i < end; ++i) {
    Tick& tick = history_.ticks[i];
    if (history_.may_move(i) && tick.came_in_rhythm) {
      const Bracket came = rhythm_.narrowed({tick.earliest, tick.latest});
      if (came.width() < tick.placed_within.value_or(tick.width())) {
        tick.earliest = came.earliest;
        tick.latest = came.latest;
        tick.placed_within.reset();
      }
    }
  }
}

void CounterTrack::pause() {
  history_.row = 0;
  reading_.reset();
  unseen_.reset();
  next_number_ += 2;  // no tick has the number just before that of the next first one
}

Seconds CounterTrack::step() const {
  return std::max(least_step, *rhythm_.period() / steps_per_period);
}

Instant CounterTrack::next_reading(Instant now) const {
  if (!reading_) {
    return now;
  }
  const auto period = rhythm_.period();
  if (!period) {
    return std::max(now, reading_->at + search_step);
  }
  const bool first_is_to_come = unseen_ && !unseen_placed_;
  const Instant after = first_is_to_come ? unseen_->at - step()
                        : seen_none()    ? reading_->at
                                         : history_.ticks.back().middle() + *period * 0.5;
  const Bracket expected = rhythm_.after(after);
  // A random offset: the place of a tick within its bracket must not depend on the rhythm, on earlier ticks, or on the
  // ticks of other counters.
  const auto number = static_cast<std::uint32_t>(next_number_);
  const double offset = static_cast<double>(philox_block({number, 0, 0, 0}, {whose_, 0})[0]) * 0x1p-32;
  // From as far before the tick as looks are late, half of the way to it each time.
  const Seconds lead = std::clamp(usually_late_ * 3.0, step() * 0.5, *period * 0.5);
  const Instant early = expected.earliest - lead - step() * offset;
  if (reading_->at < early) {
    return std::max(now, early);
  }
  const Seconds ahead = std::max(Seconds{0}, expected.earliest - reading_->at);
  // A counter that stands still is asked less often.
  const Seconds overdue = std::max(Seconds{0}, reading_->at - expected.latest);
  return std::max(now, reading_->at + std::max({step(), ahead * 0.5, overdue * 0.1}));
}

}  // namespace zeus::measure
