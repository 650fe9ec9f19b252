#include "measure/gpu_meter.hpp"

#include <algorithm>
#include <functional>

namespace zeus::measure {

namespace {

constexpr std::size_t slow_readings_kept = 1024;
constexpr Seconds slow_period{0.5};
constexpr Seconds power_period{0.05};  // of GPUs that keep no samples themselves
constexpr Seconds ring_period{0.1};
constexpr Seconds retry_period{0.25};
constexpr std::size_t least_samples_to_compare = 20;
constexpr Seconds hardly_any_time{0.01};
constexpr double disagreement_of_samples = 0.1;  // with the counter: power samples see a part of the time
constexpr double noticeably_dark = 0.25;         // of a window: the part after the sensor's last update

// Runs one call to the driver and adds up its time.
template <typename Call>
auto timed(const Clock& clock, Spent& spent, Call&& call) {
  const Instant before = clock.now();
  auto result = call();
  spent.driver_ns += clock.now().nanoseconds - before.nanoseconds;
  return result;
}

device::EnergyCounter counter_of(const device::Gpu& gpu) {
  return gpu.energy_counter().optional().value_or(device::EnergyCounter{});
}

Watts most_power(const device::Gpu& gpu) {
  const PowerLimits limits = gpu.power_limits();
  return limits.maximum.optional().value_or(limits.enforced.optional().value_or(most_of_any_gpu));
}

std::optional<PowerKind> best_power(const device::GpuFeatures& features) {
  if (features.has(device::GpuFeature::instant_power)) {
    return PowerKind::instant;
  }
  if (features.has(device::GpuFeature::plain_power)) {
    return PowerKind::plain;
  }
  return features.has(device::GpuFeature::average_power) ? std::optional{PowerKind::average} : std::nullopt;
}

// How long a cause held between two instants, from the readings around them; beyond the last reading, extrapolated from
// the nearest two.
template <typename Member>
std::optional<Seconds> grown(const std::deque<device::ThrottleTimes>& times, Instant from, Instant to, Member member) {
  const auto value_at = [&](Instant at) -> std::optional<Seconds> {
    if (times.empty()) {
      return std::nullopt;
    }
    auto next = std::ranges::lower_bound(times, at, {}, &device::ThrottleTimes::at);
    if (times.size() > 1) {
      next = std::clamp(next, times.begin() + 1, times.end() - 1);
    }
    const auto before = times.size() > 1 ? std::prev(next) : times.begin();
    const auto& after = times.size() > 1 ? *next : times.front();
    if (!((*before).*member) || !(after.*member)) {
      return std::nullopt;
    }
    const double part = after.at > before->at ? (at - before->at) / (after.at - before->at) : 0.0;
    return *((*before).*member) + (*(after.*member) - *((*before).*member)) * part;
  };
  const auto first = value_at(from);
  const auto last = value_at(to);
  return first && last ? std::optional{std::clamp(*last - *first, Seconds{0}, to - from)} : std::nullopt;
}

}  // namespace

GpuMeter::GpuMeter(std::shared_ptr<device::Gpu> gpu)
    : gpu_{std::move(gpu)},
      timing_{sensor_timing(gpu_->identity())},
      has_counter_{gpu_->features().has(device::GpuFeature::energy_counter)},
      has_samples_{gpu_->features().has(device::GpuFeature::power_samples)},
      power_kind_{best_power(gpu_->features())},
      most_power_{most_power(*gpu_)},
      track_{counter_of(*gpu_), timing_, most_power_,
             static_cast<std::uint32_t>(std::hash<std::string>{}(gpu_->identity().uuid))},
      power_{timing_ ? timing_->window : Seconds{0}},
      generation_{gpu_->generation()} {
}

std::uint64_t GpuMeter::mark() {
  if (has_counter_) {
    take_in(gpu_->energy());
  } else if (has_samples_) {
    // Take all samples that the driver has kept. Once a newer reading is added, older samples are refused.
    thread_local std::vector<device::Stamped<Watts>> samples;
    samples.clear();
    const auto outcome = gpu_->power_samples(latest_sample(), samples);
    take_in_samples(outcome, samples);
  } else if (power_kind_) {
    take_in_power(gpu_->power(*power_kind_, PowerScope::gpu));
  }
  return breaks();
}

void GpuMeter::take_in(const Reading<device::Stamped<Joules>>& reading) {
  const std::lock_guard guard{mutex_};
  if (!reading) {
    note_failure(reading.failure());
    return;
  }
  failure_.reset();
  if (const std::uint64_t generation = gpu_->generation(); generation != generation_) {
    generation_ = generation;
    break_off("the device was reopened while the window was open");
  }
  const auto seen = track_.observe(reading->at, reading->latency, reading->value);
  if (seen == CounterTrack::Observation::ticked) {
    calibration_.reset();
    recent_load_.reset();
  }
  if (seen == CounterTrack::Observation::broken) {
    ++breaks_;
    why_broken_ =
        "the energy counter was reset while the window was open (the driver was reloaded, or the GPU was reset)";
  }
}

void GpuMeter::take_in_power(const Reading<device::Stamped<Watts>>& reading) {
  const std::lock_guard guard{mutex_};
  if (!reading) {
    note_failure(reading.failure());
    return;
  }
  failure_.reset();
  power_.add(*reading);
}

const Calibration& GpuMeter::calibration() const {
  if (!calibration_) {
    calibration_ = calibrate(track_.history());
  }
  return *calibration_;
}

Instant GpuMeter::latest_sample() const {
  const std::lock_guard guard{mutex_};
  return track_.history().latest_sample;
}

bool GpuMeter::take_in_samples(const device::Outcome& outcome, std::span<const device::Stamped<Watts>> samples) {
  const std::lock_guard guard{mutex_};
  if (!outcome) {
    if (!has_counter_) {
      note_failure(outcome.failure());
    }
    return false;
  }
  if (!has_counter_) {
    failure_.reset();
  }
  track_.observe_samples(samples);
  calibration_.reset();
  for (const auto& sample : samples) {
    power_.add(sample);
  }
  return true;
}

void GpuMeter::note_failure(const Failure& failure) {
  const bool was_lost = failure_ && failure_->reason == Reason::lost;
  failure_ = failure;
  if (failure.reason == Reason::lost && !was_lost) {
    break_off("the GPU was lost while the window was open: " + to_string(failure));
  }
}

void GpuMeter::break_off(std::string why) {
  ++breaks_;
  why_broken_ = std::move(why);
  track_.pause();
  power_.break_off();
}

Instant GpuMeter::poll(const Clock& clock, Spent& spent) {
  const Instant now = clock.now();
  Instant due = now;
  {
    const std::lock_guard guard{mutex_};
    due = has_counter_ ? track_.next_reading(now) : power_due_;
  }
  if (due <= now) {
    if (has_counter_) {
      const auto ticks = [&] {
        const std::lock_guard guard{mutex_};
        return track_.history().ticks.empty() ? 0 : track_.history().ticks.back().number;
      };
      const auto before = ticks();
      take_in(timed(clock, spent, [&] { return gpu_->energy(); }));
      if (ticks() != before || power_due_ <= now) {
        read_power(clock, spent);
      }
    } else {
      read_power(clock, spent);
    }
  } else if (power_due_ <= now) {
    read_power(clock, spent);  // a window has just begun: this reading shows the power before it
  }
  if (slow_due_ <= now) {
    read_slow_sensors(now, clock, spent);
  }
  return next_round(clock.now());
}

void GpuMeter::read_power(const Clock& clock, Spent& spent) {
  power_due_ = clock.now() + (has_samples_ ? ring_period : power_period);
  if (has_samples_) {
    samples_.clear();
    const Instant since = latest_sample();
    const auto outcome = timed(clock, spent, [&] { return gpu_->power_samples(since, samples_); });
    if (take_in_samples(outcome, samples_)) {
      return;
    }
  }
  if (power_kind_) {
    const auto reading = timed(clock, spent, [&] { return gpu_->power(*power_kind_, PowerScope::gpu); });
    if (!has_counter_) {
      take_in_power(reading);
    } else if (reading) {
      const std::lock_guard guard{mutex_};
      power_.add(*reading);
    }
  }
}

void GpuMeter::read_slow_sensors(Instant now, const Clock& clock, Spent& spent) {
  slow_due_ = now + slow_period;
  if (gpu_->features().has(device::GpuFeature::temperature)) {
    const auto reading = timed(clock, spent, [&] { return gpu_->temperature(); });
    const std::lock_guard guard{mutex_};
    if (reading) {
      temperatures_.push_back({.value = *reading, .at = now});
    }
    if (temperatures_.size() > slow_readings_kept) {
      temperatures_.pop_front();
    }
  }
  if (gpu_->features().has(device::GpuFeature::throttle_times)) {
    const device::ThrottleTimes times = timed(clock, spent, [&] { return gpu_->throttle_times(); });
    const std::lock_guard guard{mutex_};
    throttle_times_.push_back(times);
    if (throttle_times_.size() > slow_readings_kept) {
      throttle_times_.pop_front();
    }
  }
}

Instant GpuMeter::next_round(Instant now) const {
  const std::lock_guard guard{mutex_};
  if (failure_) {
    return now + retry_period;
  }
  const Instant next = has_counter_ ? track_.next_reading(now) : power_due_;
  return std::min(next, slow_due_);
}

void GpuMeter::pause() {
  const std::lock_guard guard{mutex_};
  track_.pause();
  power_.break_off();
}

device::Outcome GpuMeter::reopen() {
  const auto outcome = gpu_->reopen();
  const std::lock_guard guard{mutex_};
  generation_ = gpu_->generation();
  return outcome;
}

std::optional<Edge> GpuMeter::edge(Instant at) const {
  const std::lock_guard guard{mutex_};
  if (!has_counter_) {
    return power_.edge(at);
  }
  std::optional<Edge> edge = measure::edge(track_.history(), calibration(), at);
  if (edge && is_overdue(track_.history(), at)) {
    follow_power(*edge);
  }
  return edge;
}

void GpuMeter::follow_power(Edge& edge) const {
  const Seconds time = edge.at - edge.since;
  const auto from = power_.edge(edge.since);
  const auto to = power_.edge(edge.at);
  if (!from || !to || from->epoch != to->epoch) {
    edge.overdue = most_power_ * time;
    return;
  }
  const EnergyBetween by_power = energy_between(*from, *to);
  edge.total += by_power.value - calibration().power * time;
  edge.overdue = std::max(by_power.half_width, by_power.value * disagreement_of_samples);
}

bool GpuMeter::final(Instant at) const {
  const std::lock_guard guard{mutex_};
  if (has_counter_) {
    return is_final(track_.history(), at);
  }
  return power_.latest() && *power_.latest() > at;
}

RecentLoad GpuMeter::recent_load() const {
  const std::lock_guard guard{mutex_};
  if (!recent_load_) {
    recent_load_ = measure::recent_load(track_.history());
  }
  return *recent_load_;
}

std::uint64_t GpuMeter::breaks() const {
  const std::lock_guard guard{mutex_};
  return breaks_;
}

std::string GpuMeter::why_broken() const {
  const std::lock_guard guard{mutex_};
  return why_broken_;
}

std::string GpuMeter::why_not() const {
  const std::lock_guard guard{mutex_};
  if (failure_) {
    return to_string(*failure_);
  }
  if (!has_counter_ && !power_kind_ && !has_samples_) {
    return "this GPU has neither an energy counter nor a power reading";
  }
  if (has_counter_ && !track_.history().ticks.empty()) {
    return "the energy counter stands still";
  }
  return "nothing could be read around the window's edges";
}

std::optional<Joules> GpuMeter::energy_by_samples(Instant from, Instant to) const {
  const std::lock_guard guard{mutex_};
  if (!has_counter_ || power_.readings_between(from, to) < least_samples_to_compare ||
      power_.readings().front().at > from) {
    return std::nullopt;
  }
  const auto begin = power_.edge(from);
  const auto end = power_.edge(to);
  return begin && end ? std::optional{end->total - begin->total} : std::nullopt;
}

bool GpuMeter::counter_sees_a_part() const {
  const std::lock_guard guard{mutex_};
  return has_counter_ && calibration().unseen.suspected;
}

std::optional<EnergyBetween> GpuMeter::rough_energy(Instant from, Instant to) const {
  const std::lock_guard guard{mutex_};
  const auto begin = power_.edge(from);
  const auto end = power_.edge(to);
  if (!begin || !end || begin->epoch != end->epoch) {
    return std::nullopt;
  }
  // Between so few readings the GPU may have drawn anything from nothing to twice as much.
  EnergyBetween energy = energy_between(*begin, *end);
  energy.half_width = std::max({energy.half_width, energy.value, beyond_readings(from, to, energy.value)});
  return energy;
}

std::optional<EnergyBetween> GpuMeter::hardly_any_energy(Instant from, Instant to) const {
  const std::lock_guard guard{mutex_};
  const bool readable = has_counter_ || has_samples_ || power_kind_;
  if (failure_ || !readable || to - from > hardly_any_time) {
    return std::nullopt;
  }
  EnergyBetween energy;
  energy.half_width = most_power_ * (to - from);
  return energy;
}

Joules GpuMeter::possibly_beyond_readings(Instant from, Instant to, Joules value) const {
  const std::lock_guard guard{mutex_};
  return beyond_readings(from, to, value);
}

Joules GpuMeter::beyond_readings(Instant from, Instant to, Joules value) const {
  const auto latest = power_.latest();
  const Seconds time = to - from;
  if (!latest || time <= Seconds{0}) {
    return Joules{0};
  }
  const Seconds dark = std::clamp(to - *latest + (timing_ ? timing_->period : ring_period), Seconds{0}, time);
  return *latest > to || dark < time * noticeably_dark ? Joules{0} : (most_power_ - value / time) * dark;
}

ThrottleTime GpuMeter::throttled(Instant from, Instant to) const {
  const std::lock_guard guard{mutex_};
  const auto software = grown(throttle_times_, from, to, &device::ThrottleTimes::software_thermal);
  const auto hardware = grown(throttle_times_, from, to, &device::ThrottleTimes::hardware_thermal);
  ThrottleTime result{.power_cap = grown(throttle_times_, from, to, &device::ThrottleTimes::power_cap),
                      .thermal = {},
                      .sync_boost = grown(throttle_times_, from, to, &device::ThrottleTimes::sync_boost),
                      .power_brake = grown(throttle_times_, from, to, &device::ThrottleTimes::power_brake)};
  if (software || hardware) {
    result.thermal = software.value_or(Seconds{0}) + hardware.value_or(Seconds{0});
  }
  return result;
}

std::vector<device::Stamped<Watts>> GpuMeter::powers(Instant since) const {
  const std::lock_guard guard{mutex_};
  const auto first = std::ranges::find_if(power_.readings(), [&](const auto& reading) { return reading.at > since; });
  return {first, power_.readings().end()};
}

std::vector<device::Stamped<Celsius>> GpuMeter::temperatures(Instant since) const {
  const std::lock_guard guard{mutex_};
  const auto first = std::ranges::find_if(temperatures_, [&](const auto& reading) { return reading.at > since; });
  return {first, temperatures_.end()};
}

}  // namespace zeus::measure
