#include "daemon/cpu_power_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

namespace {

// The power between two readings; empty if the counter began again between them, or if no time has passed.
std::optional<Watts> power_between(const protocol::CpuCounterReading& first, const protocol::CpuCounterReading& last) {
  if (!first.energy.value || !last.energy.value || first.began_ns != last.began_ns ||
      last.energy.at <= first.energy.at) {
    return std::nullopt;
  }
  return (*last.energy.value - *first.energy.value) / (last.energy.at - first.energy.at);
}

}  // namespace

CpuPowerMeter::CpuPowerMeter(Loop& loop, CpuReader& reader, Seconds period)
    : loop_{loop}, reader_{reader}, period_{period} {
}

void CpuPowerMeter::ask(std::function<void(Answer)> done) {
  const Instant now = loop_.clock().now();
  const bool goes_on = first_ && now - first_->package.energy.at <= 2 * period_;
  const Instant due = goes_on ? first_->package.energy.at + period_ : now + period_;
  waiting_.push_back({due, std::move(done)});
  if (!goes_on) {
    first_.reset();
    read();
  } else if (due <= now) {
    read();
  } else {
    loop_.wake_by(due);
  }
}

void CpuPowerMeter::read() {
  if (!is_reading_) {
    is_reading_ = true;
    reader_.ask([this](CpuReader::End end, const protocol::CpuReadings& readings) {
      is_reading_ = false;
      take(end, readings);
    });
  }
}

void CpuPowerMeter::take(CpuReader::End end, const protocol::CpuReadings& readings) {
  const std::string name = fmt::format("CPU package {}", reader_.id());
  std::optional<Refused> refused = refusal_of(end, name);
  if (!refused && !readings.package.energy.value) {
    const Reason reason = readings.package.energy.reason.value_or(Reason::unknown);
    refused = Refused{protocol::status_of(reason), std::string{to_string(reason)}};
  }
  if (refused) {
    first_.reset();
    for (const Waiting& one : std::exchange(waiting_, {})) {
      one.done(*refused);
    }
    return;
  }
  const Instant now = readings.package.energy.at;
  if (!first_) {
    first_ = readings;
    for (Waiting& one : waiting_) {
      one.due = now + period_;
    }
    loop_.wake_by(now + period_);
    return;
  }
  const std::optional<Watts> package = power_between(first_->package, readings.package);
  const std::optional<Watts> dram = power_between(first_->dram, readings.dram);
  first_ = readings;
  if (!package) {
    for (Waiting& one : waiting_) {
      one.due = now + period_;
    }
    loop_.wake_by(now + period_);
    return;
  }
  protocol::CpuPower power{protocol::WholeMilliwatts{*package}, {}};
  if (dram) {
    power.dram = protocol::WholeMilliwatts{*dram};
  }
  for (const Waiting& one : std::exchange(waiting_, {})) {
    one.done(power);
  }
}

void CpuPowerMeter::tick(Instant now) {
  if (waiting_.empty() || is_reading_) {
    return;
  }
  const Instant due = std::ranges::min(waiting_, {}, &Waiting::due).due;
  if (due <= now) {
    read();
  } else {
    loop_.wake_by(due);
  }
}

}  // namespace zeus::daemon
