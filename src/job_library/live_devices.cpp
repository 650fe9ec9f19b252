#include "job_library/live_devices.hpp"

#include "base/log.hpp"
#include "optimize/power_limit/setting_range.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::job_library {

namespace {

constexpr Watts limit_step{25};

Watts known(const Reading<Watts>& limit, const Gpu& gpu) {
  return limit.or_throw(fmt::format("the power limit of GPU {} ({})", gpu.index(), gpu.name()));
}

}  // namespace

LiveDevices::LiveDevices(const JobOptions& options) : sets_limits_{options.set_limits} {
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
  if (sets_limits_) {
    if (const std::string why_not = why_not_settable(); !why_not.empty()) {
      log::warning(fmt::format("power limits stay as they are: {}", why_not));
      sets_limits_ = false;
    }
  }
  describe(options.power_limits);
}

void LiveDevices::describe(const std::vector<Watts>& limits) {
  device_ = {.model = gpus_.front().name(), .gpus = 0, .max_power = {}, .power_limits = {}};
  Watts lowest;
  std::optional<Watts> highest;
  std::optional<Watts> current;
  for (const Gpu& gpu : gpus_) {
    const PowerLimits now = gpu.power_limits();
    const Watts most = known(now.maximum, gpu);
    lowest = std::max(lowest, known(now.minimum, gpu));
    highest = std::min(highest.value_or(most), most);
    current = std::min(current.value_or(most), known(now.current, gpu));
    device_.max_power += most;
    ++device_.gpus;
    if (device_.model.find(gpu.name()) == std::string::npos) {
      device_.model += " + " + gpu.name();
    }
  }
  if (!sets_limits_) {
    device_.power_limits = {*current};
    return;
  }
  for (const Watts limit : limits) {
    if (!(limit >= lowest && limit <= *highest)) {
      throw Error{ErrorKind::invalid_argument, fmt::format("a power limit of {:.6g} W cannot be set", limit.value()),
                  fmt::format("these GPUs allow {:.6g} W to {:.6g} W", lowest.value(), highest->value())};
    }
  }
  device_.power_limits = limits;
  if (limits.empty()) {
    const optimize::SettingRange range = optimize::SettingRange::of_steps(lowest, *highest, limit_step);
    device_.power_limits.assign(range.limits().begin(), range.limits().end());
  }
  std::ranges::sort(device_.power_limits);
  const auto twice = std::ranges::unique(device_.power_limits);
  device_.power_limits.erase(twice.begin(), twice.end());
}

// Found out by setting each limit to its present value. A lease that another process has now may be free when needed.
std::string LiveDevices::why_not_settable() const {
  for (const Gpu& gpu : gpus_) {
    try {
      const Watts current = known(gpu.power_limits().current, gpu);
      gpu.lease().set_power_limit(current);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::conflict) {
        return error.what();
      }
    }
  }
  return {};
}

std::optional<Watts> LiveDevices::limit_in_force() const {
  std::optional<Watts> limit;
  for (const Gpu& gpu : gpus_) {
    const auto now = gpu.power_limits().current;
    if (!now || (limit && *limit != *now)) {
      return std::nullopt;
    }
    limit = *now;
  }
  return limit;
}

}  // namespace zeus::job_library
