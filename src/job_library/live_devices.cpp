#include "job_library/live_devices.hpp"

#include "base/log.hpp"
#include "protocol/device_readings.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::job_library {

namespace {

Watts known(const Reading<Watts>& limit, const Gpu& gpu) {
  return limit.or_throw(fmt::format("the power limit of GPU {} ({})", gpu.index(), gpu.name()));
}

}  // namespace

LiveDevices::LiveDevices(const JobOptions& options, const JobsDevice& on_record) {
  MonitorOptions measured;
  measured.gpus = options.gpus;
  measured.cpus = std::vector<int>{};
  measured.synchronize = options.synchronize;
  monitor_ = std::make_shared<Monitor>(measured);
  for (const int index : monitor_->gpus()) {
    gpus_.emplace_back(index);
    uuids_.emplace(index, gpus_.back().uuid());
  }
  if (gpus_.empty()) {
    throw Error{ErrorKind::unavailable, "no GPU can be seen, so a recurring job cannot measure anything",
                "`zeus doctor` says why; JobOptions::elsewhere takes numbers of your own"};
  }
  look_for_limits(options, on_record);
}

void LiveDevices::look_for_limits(const JobOptions& options, const JobsDevice& on_record) {
  sets_limits_ = options.set_limits;
  daemon_was_away_ = false;
  if (sets_limits_) {
    const std::string why_not = why_not_settable(options.power_limits);
    if (daemon_was_away_) {
      const std::optional<records::JobDevice> known = on_record();
      const records::JobDevice here = trial::job_device(job_gpus(true), options.power_limits, true);
      if (const auto as_known = known ? trial::device_as_known(here, *known) : std::nullopt) {
        log::warning(fmt::format("power limits stay as they are until they can be set: {}", why_not));
        device_ = *as_known;
        return;
      }
    }
    if (!why_not.empty()) {
      log::warning(fmt::format("power limits stay as they are: {}", why_not));
      sets_limits_ = false;
    }
  }
  const std::vector<trial::JobGpu> described = job_gpus(sets_limits_);
  device_ = trial::job_device(described, options.power_limits, sets_limits_);
  if (const std::size_t possible = sets_limits_ ? trial::possible_limits(described, options.power_limits).size() : 0;
      device_.power_limits.size() < possible) {
    log::warning(trial::policy_text(device_.power_limits, possible));
  }
}

std::vector<trial::JobGpu> LiveDevices::job_gpus(bool bounds) const {
  std::vector<trial::JobGpu> described;
  for (const Gpu& gpu : gpus_) {
    const PowerLimits now = gpu.power_limits();
    trial::JobGpu one{.model = gpu.name(),
                      .minimum = bounds ? known(now.minimum, gpu) : Watts{},
                      .maximum = known(now.maximum, gpu),
                      .current = known(now.current, gpu),
                      .allowed = {}};
    for (const PowerLimitRange& range : gpu.allowed_power_limits()) {
      one.allowed.push_back({.minimum = range.minimum, .maximum = range.maximum});
    }
    described.push_back(std::move(one));
  }
  return described;
}

// Found out by setting each limit to its present value, or to the nearest that policy allows. A lease that another
// process has now may be free when needed.
std::string LiveDevices::why_not_settable(const std::vector<Watts>& limits) {
  try {
    const std::vector<trial::JobGpu> described = job_gpus(true);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      try {
        gpus_[i].lease().set_power_limit(trial::nearest_allowed(described[i]));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::conflict) {
          daemon_was_away_ = error.kind() == ErrorKind::timeout;
          return error.what();
        }
      }
    }
    if (trial::allowed_limits(described, trial::possible_limits(described, limits)).empty()) {
      return "the node's policy allows none of the power limits to try; `zeusd policy explain` shows its bounds";
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::invalid_argument) {
      throw;
    }
    return error.what();
  }
  return {};
}

std::vector<protocol::GpuNow> LiveDevices::readings() const {
  std::vector<protocol::GpuNow> all;
  for (const Gpu& gpu : gpus_) {
    Reading<PowerSample> power = gpu.power(PowerKind::instant);
    if (!power) {
      power = gpu.power(PowerKind::plain);
    }
    const Reading<TemperatureSample> temperature = gpu.temperature();
    const Reading<ThrottleReasons> held = gpu.throttle_reasons();
    all.push_back({.gpu = gpu.uuid(),
                   .name = gpu.name(),
                   .power = power ? std::optional{power->power} : std::nullopt,
                   .limit = gpu.power_limits().enforced.optional(),
                   .clock = gpu.clock(ClockDomain::graphics).optional(),
                   .temperature = temperature ? std::optional{temperature->temperature} : std::nullopt,
                   .throttled_by = held ? protocol::words_of(*held) : std::vector<std::string>{}});
  }
  return all;
}

std::optional<Watts> LiveDevices::limit_in_force() const {
  std::vector<std::optional<Watts>> limits;
  for (const Gpu& gpu : gpus_) {
    limits.push_back(gpu.power_limits().current.optional());
  }
  return trial::common_limit(limits);
}

}  // namespace zeus::job_library
