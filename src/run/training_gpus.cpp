#include "run/training_gpus.hpp"

#include "control/open_lease_book.hpp"
#include "device/gpu_names.hpp"
#include "measure/devices.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::run {

namespace {

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

std::vector<trial::JobGpu> TrainingGpus::job_gpus(bool bounds) const {
  std::vector<trial::JobGpu> described;
  for (const train::SessionGpu& one : gpus_) {
    const PowerLimits now = one.gpu->power_limits();
    const std::string what = fmt::format("the power limit of {}", gpu_name(one));
    trial::JobGpu gpu{.model = one.gpu->identity().name,
                      .minimum = bounds ? now.minimum.or_throw(what) : Watts{},
                      .maximum = now.maximum.or_throw(what),
                      .current = now.current.or_throw(what),
                      .allowed = {}};
    for (const device::WattRange& range : one.allowed()) {
      gpu.allowed.push_back({.minimum = range.minimum, .maximum = range.maximum});
    }
    described.push_back(std::move(gpu));
  }
  return described;
}

std::optional<Error> TrainingGpus::try_to_set() {
  std::vector<trial::JobGpu> described;
  try {
    described = job_gpus(true);
  } catch (const Error& error) {
    return error;
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    try {
      control::LeaseBook book = parts_.open_book();
      control::Lease lease = book.acquire(gpus_[i].gpu->identity().uuid);
      lease.set_power_limit(trial::nearest_allowed(described[i]));
      lease.release();
    } catch (const control::LessorAway& error) {
      lessor_away_ = error;
      return std::nullopt;
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
    if (!*why_not_ && device(limits, true).power_limits.empty()) {
      why_not_ = Error{ErrorKind::permission_denied, "the node's policy allows none of the power limits to try",
                       "`zeusd policy explain` shows its bounds"};
    }
  }
  return *why_not_;
}

std::vector<Watts> TrainingGpus::possible(const std::vector<Watts>& limits) const {
  return trial::possible_limits(job_gpus(true), limits);
}

records::JobDevice TrainingGpus::device(const std::vector<Watts>& limits, bool set) const {
  return trial::job_device(job_gpus(set), limits, set);
}

std::optional<Watts> TrainingGpus::limit_in_force() const {
  std::vector<std::optional<Watts>> limits;
  for (const train::SessionGpu& one : gpus_) {
    limits.push_back(one.gpu->power_limits().current.optional());
  }
  return trial::common_limit(limits);
}

std::unique_ptr<train::Session> TrainingGpus::open(const TrainingOptions& options) {
  train::SessionParts parts = train::live_parts(parts_.monitor, gpus_, parts_.open_book, parts_.clock);
  parts.may_end_soon = true;
  return std::make_unique<train::Session>(std::move(parts), options);
}

}  // namespace zeus::run
