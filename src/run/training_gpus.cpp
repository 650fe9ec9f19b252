#include "run/training_gpus.hpp"

#include "control/open_lease_book.hpp"
#include "device/gpu_names.hpp"
#include "measure/devices.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "optimize/power_limit/setting_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::run {

namespace {

constexpr Watts limit_step{25};

std::string gpu_name(const train::SessionGpu& one) {
  return device::to_text(one.gpu->identity(), one.index);
}

TrainingGpus::Parts live(const Place& place, const std::optional<std::vector<std::string>>& names) {
  const device::Inventory inventory = device::take_inventory(place.backends, place.environment);
  MonitorOptions options;
  if (names) {
    options.gpus = device::numbers_of(inventory, *names);
  }
  measure::Sampler::Devices devices = measure::visible_devices(inventory);
  devices.cpus.clear();
  std::vector<std::shared_ptr<device::Gpu>> gpus = devices.gpus;
  const auto source = std::make_shared<measure::SamplerSource>(std::move(devices), place.clock);
  return {.gpus = std::move(gpus),
          .monitor = std::make_shared<Monitor>(measure::monitor_of(source, options)),
          .open_book =
              [place] {
                return control::open_lease_book(place.environment, place.machine, place.beside,
                                                device::take_inventory(place.backends, place.environment).gpus,
                                                place.clock, control::Lends::nothing, place.lessor);
              },
          .clock = place.clock,
          .allowed = train::allowed_limits_of(place.lessor)};
}

// The allowed limit that is nearest to this one.
Watts nearest(const std::vector<device::WattRange>& allowed, Watts limit) {
  std::optional<Watts> found;
  for (const device::WattRange& range : allowed) {
    const Watts one = std::clamp(limit, range.minimum, range.maximum);
    found = found && abs(*found - limit) <= abs(one - limit) ? found : one;
  }
  return found.value_or(limit);
}

}  // namespace

TrainingGpus::TrainingGpus(const Place& place, const std::optional<std::vector<std::string>>& names)
    : TrainingGpus{live(place, names)} {
}

TrainingGpus::TrainingGpus(Parts parts)
    : parts_{std::move(parts)}, gpus_{train::session_gpus(*parts_.monitor, parts_.gpus, parts_.allowed)} {
}

std::vector<const device::Gpu*> TrainingGpus::devices() const {
  std::vector<const device::Gpu*> all;
  for (const train::SessionGpu& one : gpus_) {
    all.push_back(one.gpu.get());
  }
  return all;
}

std::string TrainingGpus::uuid(int number) const {
  return parts_.gpus.at(static_cast<std::size_t>(number))->identity().uuid;
}

std::vector<RunRecord::Gpu> TrainingGpus::listed() const {
  std::vector<RunRecord::Gpu> list;
  for (const train::SessionGpu& one : gpus_) {
    list.push_back({.index = one.index, .uuid = one.gpu->identity().uuid, .name = one.gpu->identity().name});
  }
  return list;
}

std::optional<Error> TrainingGpus::try_to_set() {
  for (const train::SessionGpu& one : gpus_) {
    const PowerLimits now = one.gpu->power_limits();
    for (const auto* const bound : {&now.current, &now.minimum, &now.maximum}) {
      if (!*bound) {
        return to_error(bound->failure(), fmt::format("the power limit of {}", gpu_name(one)));
      }
    }
    try {
      control::LeaseBook book = parts_.open_book();
      control::Lease lease = book.acquire(one.gpu->identity().uuid);
      lease.set_power_limit(nearest(one.allowed, *now.current));
      lease.release();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::conflict) {
        continue;
      }
      return error;
    }
  }
  return std::nullopt;
}

const std::optional<Error>& TrainingGpus::why_not_settable(const std::vector<Watts>& limits) {
  if (!why_not_) {
    why_not_.emplace(try_to_set());
    if (!*why_not_ && allowed_of(possible(limits)).empty()) {
      why_not_ = Error{ErrorKind::permission_denied, "the node's policy allows none of the power limits to try",
                       "`zeusd policy explain` shows its bounds"};
    }
  }
  return *why_not_;
}

std::vector<Watts> TrainingGpus::allowed_of(std::vector<Watts> limits) const {
  for (const train::SessionGpu& one : gpus_) {
    std::erase_if(limits, [&one](Watts limit) { return !device::hold(one.allowed, limit); });
  }
  return limits;
}

std::vector<Watts> TrainingGpus::possible(const std::vector<Watts>& limits) const {
  Watts lowest;
  std::optional<Watts> highest;
  for (const train::SessionGpu& one : gpus_) {
    const PowerLimits now = one.gpu->power_limits();
    const std::string what = fmt::format("the power limit of {}", gpu_name(one));
    const Watts most = now.maximum.or_throw(what);
    lowest = std::max(lowest, now.minimum.or_throw(what));
    highest = std::min(highest.value_or(most), most);
  }
  for (const Watts limit : limits) {
    if (limit < lowest || limit > *highest) {
      throw Error{ErrorKind::invalid_argument, fmt::format("a power limit of {:.6g} W cannot be set", limit.value()),
                  fmt::format("these GPUs allow {:.6g} W to {:.6g} W", lowest.value(), highest->value())};
    }
  }
  std::vector<Watts> all = limits;
  if (limits.empty()) {
    const optimize::SettingRange range = optimize::SettingRange::of_steps(lowest, *highest, limit_step);
    all.assign(range.limits().begin(), range.limits().end());
  }
  std::ranges::sort(all);
  const auto twice = std::ranges::unique(all);
  all.erase(twice.begin(), twice.end());
  return all;
}

records::JobDevice TrainingGpus::device(const std::vector<Watts>& limits, bool set) {
  records::JobDevice device{
      .model = gpus_.front().gpu->identity().name, .gpus = 0, .max_power = {}, .power_limits = {}};
  std::optional<Watts> current;
  for (const train::SessionGpu& one : gpus_) {
    const PowerLimits now = one.gpu->power_limits();
    const std::string what = fmt::format("the power limit of {}", gpu_name(one));
    const Watts most = now.maximum.or_throw(what);
    current = std::min(current.value_or(most), now.current.or_throw(what));
    device.max_power += most;
    ++device.gpus;
    if (one.gpu->identity().name != device.model && device.model.find(one.gpu->identity().name) == std::string::npos) {
      device.model += " + " + one.gpu->identity().name;
    }
  }
  device.power_limits = set ? allowed_of(possible(limits)) : std::vector{*current};
  return device;
}

std::optional<Watts> TrainingGpus::limit_in_force() const {
  std::optional<Watts> limit;
  for (const train::SessionGpu& one : gpus_) {
    const std::optional<Watts> now = one.gpu->power_limits().current.optional();
    if (!now || (limit && *limit != *now)) {
      return std::nullopt;
    }
    limit = now;
  }
  return limit;
}

std::unique_ptr<train::Session> TrainingGpus::open(const TrainingOptions& options) {
  return std::make_unique<train::Session>(train::live_parts(parts_.monitor, gpus_, parts_.open_book, parts_.clock),
                                          options);
}

}  // namespace zeus::run
