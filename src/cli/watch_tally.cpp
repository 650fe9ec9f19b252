#include "cli/watch_tally.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::cli {

namespace {

// No device draws this much: a counter that moved further was reset meanwhile, and has since passed its old value.
constexpr Watts beyond_any{5000};

constexpr Seconds of_late{30};

}  // namespace

std::optional<Joules> CounterTally::used_until(const CounterReading& reading, const std::string& instance) const {
  const bool same_start = instance == instance_;
  if ((same_start && reading.generation != last_.generation) || reading.began_ns != last_.began_ns) {
    return std::nullopt;
  }
  Joules used = reading.value - last_.value;
  if (used < Joules{0} && same_start && reading.wraps_at) {
    used = used + *reading.wraps_at;
  }
  // A counter that is renewed now and then may bring energy from before the last reading.
  const Joules most = beyond_any * (reading.at - last_.at + Seconds{1});
  return used >= Joules{0} && used <= most ? std::optional{used} : std::nullopt;
}

void CounterTally::add(const CounterReading& reading, const std::string& instance) {
  if (!energy_) {
    energy_ = WatchedEnergy{.joules = Joules{0}, .from = reading.at, .to = reading.at, .began_anew = 0};
  } else if (reading.at <= last_.at && instance == instance_) {
    return;
  } else {
    const std::optional<Joules> used = used_until(reading, instance);
    power_ = used && reading.at > last_.at ? std::optional{*used / (reading.at - last_.at)} : std::nullopt;
    if (used) {
      energy_->joules = energy_->joules + *used;
    } else {
      ++energy_->began_anew;
    }
    energy_->to = std::max(energy_->to, reading.at);
  }
  last_ = reading;
  instance_ = instance;
}

void ClockOffset::add(const Sample& sample) {
  std::erase_if(samples_, [&](const Sample& one) { return sample.at - one.at > of_late; });
  samples_.push_back(sample);
}

std::optional<ClockOffset::Sample> ClockOffset::best() const {
  const auto least = std::ranges::min_element(samples_, {}, &Sample::doubt);
  return least == samples_.end() ? std::nullopt : std::optional{*least};
}

void NodeTally::take(const NodeReadings& readings) {
  if (answered_ && readings.instance != instance_) {
    ++restarts_;
    // The new daemon may run on another machine's clock.
    monotonic_.forget();
    civil_.forget();
  }
  answered_ = readings.answered;
  failure_.reset();
  daemon_ = readings.daemon;
  instance_ = readings.instance;
  const Seconds doubt = (readings.answered - readings.asked) / 2.0;
  const Instant middle = readings.asked + doubt;
  if (readings.daemon_now) {
    monotonic_.add({.at = readings.answered, .offset = *readings.daemon_now - middle, .doubt = doubt});
  }
  if (readings.daemon_wall) {
    const auto microseconds = readings.daemon_wall->microseconds_since_epoch - readings.wall.microseconds_since_epoch;
    civil_.add(
        {.at = readings.answered, .offset = Seconds{static_cast<double>(microseconds) * 1e-6} + doubt, .doubt = doubt});
  }
  const std::optional<ClockOffset::Sample> before_ours = monotonic_.best();
  for (auto& [key, device] : devices_) {
    device.last.power.reset();
    device.last.power_reason = "its daemon no longer reports it";
  }
  for (const DeviceReading& reading : readings.devices) {
    const WatchedDevice& read = reading.device;
    Device& device = devices_[{read.kind, read.uuid, read.uuid.empty() ? read.id : 0}];
    device.last = read;
    if (reading.counter) {
      CounterReading counter = *reading.counter;
      if (readings.daemon_now && before_ours) {
        counter.at = counter.at - before_ours->offset;
      }
      device.tally.add(counter, readings.instance);
      if (read.kind != DeviceKind::gpu) {
        device.last.power = device.tally.power();
        device.last.power_reason = "power needs two readings";
      }
    }
  }
}

void NodeTally::fail(std::string_view why) {
  failure_ = why;
}

WatchedNode NodeTally::node(Instant now) const {
  WatchedNode node;
  node.name = name_;
  const Seconds silence = now - answered_.value_or(begin_);
  if (failure_) {
    node.missing = failure_;
  } else if (!answered_) {
    node.missing = "it has not answered yet";
  } else if (silence > longest_silence) {
    node.missing = "it does not answer";
  }
  if (node.missing) {
    node.missing_for = silence;
  }
  if (answered_) {
    node.daemon = daemon_;
    if (!instance_.empty()) {
      node.restarts = restarts_;
    }
  }
  if (const auto civil = civil_.best()) {
    node.clock_offset = civil->offset;
    node.clock_doubt = civil->doubt;
  }
  for (const auto& [key, device] : devices_) {
    WatchedDevice shown = device.last;
    shown.energy = device.tally.energy();
    if (node.missing) {
      shown.power.reset();
      shown.power_reason = "its node is missing";
    }
    node.devices.push_back(std::move(shown));
  }
  std::ranges::sort(node.devices, {}, [](const WatchedDevice& device) { return std::pair{device.kind, device.id}; });
  return node;
}

}  // namespace zeus::cli
