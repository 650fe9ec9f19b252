#include "trial/job_gpus.hpp"

#include "optimize/power_limit/setting_range.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::trial {

namespace {

constexpr Watts limit_step{25};

bool allows(const JobGpu& gpu, Watts limit) {
  return gpu.allowed.empty() || std::ranges::any_of(gpu.allowed, [limit](const LimitRange& range) {
           return limit >= range.minimum && limit <= range.maximum;
         });
}

}  // namespace

std::vector<Watts> possible_limits(const std::vector<JobGpu>& gpus, const std::vector<Watts>& wanted) {
  Watts lowest;
  Watts highest = gpus.front().maximum;
  for (const JobGpu& gpu : gpus) {
    lowest = std::max(lowest, gpu.minimum);
    highest = std::min(highest, gpu.maximum);
  }
  for (const Watts limit : wanted) {
    if (!(limit >= lowest && limit <= highest)) {
      throw Error{ErrorKind::invalid_argument, fmt::format("a power limit of {:.6g} W cannot be set", limit.value()),
                  fmt::format("these GPUs allow {:.6g} W to {:.6g} W", lowest.value(), highest.value())};
    }
  }
  std::vector<Watts> all = wanted;
  if (wanted.empty()) {
    const optimize::SettingRange range = optimize::SettingRange::of_steps(lowest, highest, limit_step);
    all.assign(range.limits().begin(), range.limits().end());
  }
  std::ranges::sort(all);
  const auto twice = std::ranges::unique(all);
  all.erase(twice.begin(), twice.end());
  return all;
}

std::vector<Watts> allowed_limits(const std::vector<JobGpu>& gpus, std::vector<Watts> limits) {
  for (const JobGpu& gpu : gpus) {
    std::erase_if(limits, [&gpu](Watts limit) { return !allows(gpu, limit); });
  }
  return limits;
}

Watts nearest_allowed(const JobGpu& gpu) {
  std::optional<Watts> found;
  for (const LimitRange& range : gpu.allowed) {
    const Watts one = std::clamp(gpu.current, range.minimum, range.maximum);
    found = found && abs(*found - gpu.current) <= abs(one - gpu.current) ? found : one;
  }
  return found.value_or(gpu.current);
}

records::JobDevice job_device(const std::vector<JobGpu>& gpus, const std::vector<Watts>& wanted, bool set) {
  records::JobDevice device{.model = {}, .gpus = 0, .max_power = {}, .power_limits = {}};
  Watts current = gpus.front().current;
  for (const JobGpu& gpu : gpus) {
    current = std::min(current, gpu.current);
    device.max_power += gpu.maximum;
    ++device.gpus;
    if (device.model.find(gpu.model) == std::string::npos) {
      device.model += (device.model.empty() ? "" : " + ") + gpu.model;
    }
  }
  device.power_limits = set ? allowed_limits(gpus, possible_limits(gpus, wanted)) : std::vector{current};
  return device;
}

std::optional<records::JobDevice> device_as_known(const records::JobDevice& here, const records::JobDevice& known) {
  const bool same = here.model == known.model && here.gpus == known.gpus && here.max_power == known.max_power;
  return same && std::ranges::includes(here.power_limits, known.power_limits) ? std::optional{known} : std::nullopt;
}

std::string policy_text(const std::vector<Watts>& allowed, std::size_t possible) {
  std::string limits;
  for (const Watts limit : allowed) {
    limits += fmt::format("{}{:.6g}", limits.empty() ? "" : ", ", limit.value());
  }
  return fmt::format("the node's policy allows {} of {} power limits: {} W", allowed.size(), possible, limits);
}

std::optional<Watts> common_limit(const std::vector<std::optional<Watts>>& limits) {
  std::optional<Watts> common;
  for (const std::optional<Watts>& limit : limits) {
    if (!limit || (common && *common != *limit)) {
      return std::nullopt;
    }
    common = limit;
  }
  return common;
}

}  // namespace zeus::trial
