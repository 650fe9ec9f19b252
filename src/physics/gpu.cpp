#include "physics/gpu.hpp"

#include "base/portable_math.hpp"
#include "physics/shared_words.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace zeus::physics {

namespace {

// The temperature's effect on power is renewed at whole multiples of this on the monotonic clock, so that it does not
// depend on when the GPU is read. Thermal time constants are tens of seconds.
constexpr std::int64_t thermal_step_ns = 1'000'000'000;
// Operating points are found for whole multiples of this temperature, so that a GPU that is no longer warming up needs
// no new one: a quarter of a kelvin changes the waiting power by a tenth of a percent.
constexpr double temperature_step = 0.25;
// Energy marks are at least this far apart: 1024 of them reach back more than five seconds.
constexpr std::int64_t mark_spacing_ns = 5'000'000;
constexpr Instant end_of_time{std::numeric_limits<std::int64_t>::max()};

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t remainder = value % step;
  return value - (remainder < 0 ? remainder + step : remainder);
}

// How long the first point of a wave has lasted within [origin, at), in ns.
std::int64_t first_until(const Segment& segment, Instant at) {
  const std::int64_t elapsed = at.nanoseconds - segment.origin.nanoseconds;
  const std::int64_t whole = floor_to(elapsed, segment.period_ns);
  return whole / segment.period_ns * segment.first_lasts_ns + std::min(elapsed - whole, segment.first_lasts_ns);
}

bool in_first(const Segment& segment, Instant at) {
  if (segment.period_ns <= 0) {
    return true;
  }
  const std::int64_t elapsed = at.nanoseconds - segment.origin.nanoseconds;
  return elapsed - floor_to(elapsed, segment.period_ns) < segment.first_lasts_ns;
}

void add(Totals& totals, const OperatingPoint& point, std::int64_t nanoseconds) {
  const Seconds time{static_cast<double>(nanoseconds) * 1e-9};
  totals.energy += point.power * time;
  totals.work += time * point.speed;
  totals.busy += time * point.gpu_utilization;
  if (point.held_by(Throttle::power_cap)) {
    totals.capped += time;
  }
  if (point.held_by(Throttle::thermal)) {
    totals.throttled += time;
  }
}

Joules energy_between(const Segment& segment, Instant from, Instant to) {
  const std::int64_t elapsed = to.nanoseconds - from.nanoseconds;
  const std::int64_t first = segment.period_ns <= 0 ? elapsed : first_until(segment, to) - first_until(segment, from);
  return segment.first.power * Seconds{static_cast<double>(first) * 1e-9} +
         segment.second.power * Seconds{static_cast<double>(elapsed - first) * 1e-9};
}

// The energy that a part-time counter saw between the segment's start and `at`: the last `counter_window` of each
// period.
Joules seen_within(const SensorModel& sensors, const Segment& segment, Instant at) {
  const std::int64_t period = (Instant{} + sensors.counter_period).nanoseconds;
  const std::int64_t phase = (Instant{} + sensors.phase).nanoseconds;
  Joules seen;
  Instant tick{floor_to(segment.start.nanoseconds - phase, period) + phase + period};
  for (; tick - sensors.counter_window < at; tick.nanoseconds += period) {
    seen += energy_between(segment, std::max(segment.start, tick - sensors.counter_window), std::min(at, tick));
  }
  return seen;
}

Totals totals_within(const SensorModel& sensors, const Segment& segment, Instant at) {
  Totals totals = segment.at_start;
  if (sensors.counter_part_time && sensors.counter_period > Seconds{0}) {
    totals.seen += seen_within(sensors, segment, at);
  }
  const std::int64_t elapsed = at.nanoseconds - segment.start.nanoseconds;
  if (segment.period_ns <= 0) {
    add(totals, segment.first, elapsed);
    return totals;
  }
  const std::int64_t first = first_until(segment, at) - first_until(segment, segment.start);
  add(totals, segment.first, first);
  add(totals, segment.second, elapsed - first);
  return totals;
}

// The response of a first-order thermal circuit to the mean power since the segment's start.
Celsius temperature_within(const ThermalModel& thermal, const Segment& segment, Instant at, Joules energy) {
  const Seconds elapsed = at - segment.start;
  if (elapsed <= Seconds{0}) {
    return segment.temperature;
  }
  const Watts mean = (energy - segment.at_start.energy) / elapsed;
  const Celsius target = thermal.ambient + Kelvins{thermal.kelvins_per_watt * mean.value()};
  const double remaining = portable::exp(-(elapsed / thermal.time_constant));
  return target + (segment.temperature - target) * remaining;
}

Celsius on_temperature_step(Celsius temperature) {
  return Celsius{std::floor(temperature.value() / temperature_step + 0.5) * temperature_step};
}

std::uint64_t load_acquire(std::uint64_t& counter) {
  return std::atomic_ref{counter}.load(std::memory_order_acquire);
}
void store_release(std::uint64_t& counter, std::uint64_t value) {
  std::atomic_ref{counter}.store(value, std::memory_order_release);
}

struct TableStep {
  Demand demand;
  Instant until;
};

// The table's entry for `at`, and when it ends.
TableStep look_up(std::span<const TablePoint> table, const Load& load, Instant at) {
  if (table.empty()) {
    return {Demand::none(), end_of_time};
  }
  Instant origin = load.origin;
  const std::int64_t length = (Instant{} + table.back().after).nanoseconds;
  const bool repeats = load.table_repeats && length > 0;
  if (repeats && at >= origin) {
    origin.nanoseconds += floor_to(at.nanoseconds - origin.nanoseconds, length);
  }
  const auto next = std::ranges::upper_bound(table, at, {}, [&](const TablePoint& p) { return origin + p.after; });
  const Demand demand = next == table.begin() ? Demand::none() : std::prev(next)->demand;
  return {demand, next == table.end() ? end_of_time : origin + next->after};
}

}  // namespace

void Gpu::start(Instant now) {
  start(now, model_->thermal.ambient + Kelvins{model_->thermal.kelvins_per_watt * model_->power.idle.value()});
}

void Gpu::start(Instant now, Celsius temperature) {
  *state_ = GpuState{};
  publish(make_segment(now, Totals{}, temperature, Load::constant(Demand::none()), Controls::defaults(*model_), 0));
}

void Gpu::set_load(Instant now, const Load& load) {
  advance(now);
  begin(now, load, latest().controls);
}

void Gpu::set_controls(Instant now, const Controls& controls) {
  advance(now);
  begin(now, latest().load, controls);
}

void Gpu::advance(Instant now) {
  Segment segment = latest();
  while (segment.end <= now) {
    segment = successor(segment);
    publish(segment);
  }
}

bool Gpu::needs_advance(Instant now) const {
  return latest().end <= now;
}

Load Gpu::load() const {
  return latest().load;
}

Controls Gpu::controls() const {
  return latest().controls;
}

CounterState Gpu::counter() const {
  return load_words(state_->counter);
}

void Gpu::set_counter(const CounterState& counter) {
  store_words(state_->counter, counter);
}

Totals Gpu::totals(Instant at) const {
  const Segment segment = segment_at(at);
  if (at >= segment.start) {
    return totals_within(model_->sensors, segment, at);
  }
  Totals totals = segment.at_start;
  totals.energy = remembered_energy(at);
  return totals;
}

OperatingPoint Gpu::operating_point(Instant at) const {
  const Segment segment = segment_at(at);
  return in_first(segment, at) ? segment.first : segment.second;
}

Celsius Gpu::temperature(Instant at) const {
  const Segment segment = segment_at(at);
  const Instant inside = std::max(at, segment.start);
  return temperature_within(model_->thermal, segment, inside, totals_within(model_->sensors, segment, inside).energy);
}

Watts Gpu::mean_power(Instant from, Instant to) const {
  return (energy(to) - energy(from)) / (to - from);
}

// Whether the copy of a segment is good: the writer, which writes to the slot after the last published one, had not
// begun to overwrite it.
bool Gpu::still_whole(std::uint64_t number) const {
  return load_acquire(state_->segments_published) - number < GpuState::segment_slots;
}

Segment Gpu::latest() const {
  while (true) {
    const std::uint64_t number = load_acquire(state_->segments_published) - 1;
    const Segment segment = load_words(state_->segments[number % GpuState::segment_slots]);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (still_whole(number)) {
      return segment;
    }
  }
}

// The segment that contains `at`: a remembered one, or one computed because it is not published yet. The oldest
// remembered one if `at` is before that.
Segment Gpu::segment_at(Instant at) const {
  Segment segment = latest();
  while (segment.end <= at) {
    segment = successor(segment);
  }
  while (at < segment.start && segment.number > 0) {
    const std::uint64_t number = segment.number - 1;
    const Segment older = load_words(state_->segments[number % GpuState::segment_slots]);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (older.number != number || !still_whole(number)) {
      break;
    }
    segment = older;
  }
  return segment;
}

Segment Gpu::make_segment(Instant start, const Totals& totals, Celsius temperature, const Load& load,
                          const Controls& controls, std::uint64_t number) const {
  Segment segment{.number = number,
                  .start = start,
                  .end = {floor_to(start.nanoseconds, thermal_step_ns) + thermal_step_ns},
                  .at_start = totals,
                  .temperature = temperature,
                  .load = load,
                  .controls = controls};
  Demand first = load.first;
  if (load.shape == LoadShape::table) {
    const TableStep step = look_up(table_, load, start);
    first = step.demand;
    segment.end = std::min(segment.end, step.until);
  }
  segment.first = settle(*model_, controls, first, on_temperature_step(temperature));
  if (load.shape == LoadShape::square && load.period_ns > 0) {
    segment.second = settle(*model_, controls, load.second, on_temperature_step(temperature));
    segment.origin = load.origin;
    segment.period_ns = load.period_ns;
    segment.first_lasts_ns = load.first_lasts_ns;
  }
  return segment;
}

Segment Gpu::successor(const Segment& segment) const {
  const Totals totals = totals_within(model_->sensors, segment, segment.end);
  const Celsius temperature = temperature_within(model_->thermal, segment, segment.end, totals.energy);
  if (segment.load.shape != LoadShape::table &&
      on_temperature_step(temperature) == on_temperature_step(segment.temperature)) {
    Segment same = segment;
    same.number = segment.number + 1;
    same.start = segment.end;
    same.end.nanoseconds = floor_to(segment.end.nanoseconds, thermal_step_ns) + thermal_step_ns;
    same.at_start = totals;
    same.temperature = temperature;
    return same;
  }
  return make_segment(segment.end, totals, temperature, segment.load, segment.controls, segment.number + 1);
}

void Gpu::begin(Instant now, const Load& load, const Controls& controls) {
  const Segment current = latest();
  const Instant at = std::max(now, current.start);
  const Totals totals = totals_within(model_->sensors, current, at);
  const Celsius temperature = temperature_within(model_->thermal, current, at, totals.energy);
  publish(make_segment(at, totals, temperature, load, controls, current.number + 1));
}

void Gpu::publish(const Segment& segment) {
  const std::uint64_t marks = state_->marks_published;
  const EnergyMark& last = state_->marks[(marks - 1) % GpuState::mark_slots];
  if (marks == 0 || segment.start.nanoseconds - last.at.nanoseconds >= mark_spacing_ns) {
    store_words(state_->marks[marks % GpuState::mark_slots], {segment.start, segment.at_start.energy});
    store_release(state_->marks_published, marks + 1);
  }
  store_words(state_->segments[segment.number % GpuState::segment_slots], segment);
  store_release(state_->segments_published, segment.number + 1);
}

// Energy before the oldest remembered segment: between two marks as if the power had been constant there, before the
// first mark as if the GPU had been idle.
Joules Gpu::remembered_energy(Instant at) const {
  const std::uint64_t published = load_acquire(state_->marks_published);
  const std::uint64_t oldest = published > GpuState::mark_slots ? published - GpuState::mark_slots : 0;
  const auto mark = [this](std::uint64_t number) { return load_words(state_->marks[number % GpuState::mark_slots]); };
  std::uint64_t low = oldest;
  std::uint64_t high = published;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (mark(middle).at <= at ? low : high) = mark(middle).at <= at ? middle + 1 : middle;
  }
  if (low == oldest) {
    return mark(oldest).energy - model_->power.idle * (mark(oldest).at - at);
  }
  const EnergyMark before = mark(low - 1);
  const EnergyMark after =
      low < published ? mark(low) : EnergyMark{segment_at(at).start, segment_at(at).at_start.energy};
  if (after.at <= before.at) {
    return before.energy;
  }
  return before.energy + (after.energy - before.energy) * ((at - before.at) / (after.at - before.at));
}

}  // namespace zeus::physics
