#include "train/gpu_group.hpp"

#include "base/log.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::train {

namespace {

// Clocks are tried in this many steps, from the highest down to this part of it: below, a GPU only wastes idle power.
constexpr std::size_t most_clocks = 12;
constexpr double lowest_clock_part = 0.45;

std::string name_of(const SessionGpu& gpu) {
  return to_text(gpu.gpu->identity(), gpu.index);
}

std::vector<device::WattRange> allowed_on(const SessionGpu& gpu) {
  return gpu.allowed ? gpu.allowed() : std::vector<device::WattRange>{};
}

// Some drivers list clocks that cannot be locked; they then refuse the first one that is tried.
std::vector<Megahertz> lockable_clocks(const device::Gpu& gpu) {
  const auto memory = gpu.supported_memory_clocks();
  if (!memory || memory->empty()) {
    return {};
  }
  return gpu.supported_graphics_clocks(memory->front()).optional().value_or(std::vector<Megahertz>{});
}

std::vector<Megahertz> spread(const std::vector<Megahertz>& clocks) {
  std::vector<Megahertz> chosen;
  if (clocks.empty()) {
    return chosen;
  }
  const Megahertz highest = clocks.front();
  const Megahertz step = highest * ((1.0 - lowest_clock_part) / static_cast<double>(most_clocks - 1));
  for (const Megahertz clock : clocks) {
    if (clock < highest * lowest_clock_part) {
      break;
    }
    if (chosen.empty() || chosen.back() - clock >= step) {
      chosen.push_back(clock);
    }
  }
  return chosen;
}

}  // namespace

GpuGroup::GpuGroup(std::vector<SessionGpu> gpus, Acquire acquire, Seconds term)
    : gpus_{std::move(gpus)}, acquire_{std::move(acquire)}, term_{term} {
}

void GpuGroup::leave_out(const std::vector<std::string>& uuids) {
  std::erase_if(
      gpus_, [&](const SessionGpu& one) { return std::ranges::find(uuids, one.gpu->identity().uuid) != uuids.end(); });
}

GpuGroup::Range GpuGroup::range() const {
  Range range;
  bool first = true;
  std::vector<Megahertz> clocks;
  for (const SessionGpu& one : gpus_) {
    const PowerLimits limits = one.gpu->power_limits();
    const Watts lowest = limits.minimum.or_throw("the lowest power limit of " + name_of(one));
    const Watts highest = limits.maximum.or_throw("the highest power limit of " + name_of(one));
    const std::optional<Watts> found = limits.current.optional();
    const std::vector<Megahertz> lockable = lockable_clocks(*one.gpu);
    range.max_power += highest;
    range.lowest = first ? lowest : std::max(range.lowest, lowest);
    range.highest = first ? highest : std::min(range.highest, highest);
    if (first) {
      range.found = found;
      clocks = lockable;
    } else {
      range.found = range.found == found ? found : std::nullopt;
      std::erase_if(clocks, [&](Megahertz clock) { return std::ranges::find(lockable, clock) == lockable.end(); });
    }
    first = false;
  }
  range.clocks = spread(clocks);
  range.allowed = allowed();
  return range;
}

std::vector<std::vector<device::WattRange>> GpuGroup::allowed() const {
  std::vector<std::vector<device::WattRange>> all;
  for (const SessionGpu& one : gpus_) {
    if (std::vector<device::WattRange> ranges = allowed_on(one); !ranges.empty()) {
      all.push_back(std::move(ranges));
    }
  }
  return all;
}

std::string GpuGroup::product() const {
  std::vector<std::string> names;
  for (const SessionGpu& one : gpus_) {
    const std::string& name = one.gpu->identity().name;
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, " + "));
}

void GpuGroup::lease() {
  while (leases_.size() < gpus_.size()) {
    leases_.push_back(acquire_(gpus_[leases_.size()].gpu->identity().uuid, term_));
  }
}

std::optional<Watts> GpuGroup::apply(const records::PowerSetting& setting) {
  std::optional<Watts> enforced;
  changed_ = true;
  const bool unlock = clocks_locked_ && !setting.clock;
  clocks_locked_ = clocks_locked_ || setting.clock.has_value();
  for (control::Lease& lease : leases_) {
    const control::PowerSetting now = lease.set_power_limit(setting.limit);
    if (now.enforced) {
      enforced = enforced ? std::min(*enforced, *now.enforced) : *now.enforced;
    }
    if (setting.clock) {
      const std::vector<Megahertz> lockable = lockable_clocks(lease.gpu());
      const Megahertz lowest = lockable.empty() ? *setting.clock : lockable.back();
      static_cast<void>(
          lease.lock_clocks(ClockDomain::graphics, ClockRange{.minimum = lowest, .maximum = *setting.clock}));
    } else if (unlock) {
      lease.unlock_clocks(ClockDomain::graphics);
    }
  }
  clocks_locked_ = setting.clock.has_value();
  return enforced;
}

std::string GpuGroup::overruled() const {
  for (const control::Lease& lease : leases_) {
    if (std::string why = lease.overruled(); !why.empty()) {
      return why;
    }
  }
  return {};
}

std::string GpuGroup::overruled_still() const {
  for (const control::Lease& lease : leases_) {
    // A restart is reported once.
    if (lease.overruled().empty()) {
      continue;
    }
    if (std::string why = lease.overruled(); !why.empty()) {
      return why;
    }
  }
  return {};
}

void GpuGroup::restore() {
  if (!changed_) {
    return;
  }
  for (control::Lease& lease : leases_) {
    lease.restore();
  }
  changed_ = false;
  clocks_locked_ = false;
}

void GpuGroup::renew() {
  for (control::Lease& lease : leases_) {
    lease.renew();
  }
}

void GpuGroup::release() noexcept {
  for (control::Lease& lease : leases_) {
    try {
      lease.release();
    } catch (const std::exception& error) {
      log::error(error.what());
    }
  }
  leases_.clear();
  changed_ = false;
  clocks_locked_ = false;
}

std::vector<std::optional<Seconds>> GpuGroup::capped() const {
  std::vector<std::optional<Seconds>> times;
  times.reserve(gpus_.size());
  for (const SessionGpu& one : gpus_) {
    times.push_back(one.gpu->throttle_times().power_cap.optional());
  }
  return times;
}

}  // namespace zeus::train
