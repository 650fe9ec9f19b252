#include "cli/watch_answers.hpp"

#include "base/printable.hpp"

#include <zeus/device_values.hpp>

#include <algorithm>

namespace zeus::cli {

namespace {

using protocol::ReportedReading;

constexpr std::size_t longest_text = 120;

std::string fit_to_show(std::string_view text) {
  return shortened(printable(text), longest_text);
}

template <typename Value>
std::string why_none(const ReportedReading<Value>& reading) {
  if (reading.detail && !reading.detail->empty()) {
    return fit_to_show(*reading.detail);
  }
  return std::string{to_string(reading.reason.value_or(Reason::unknown))};
}

// The GPU's own power, as near to this moment as possible; else that of the device it is a part of.
const protocol::ReportedPower* nearest_power(const protocol::GpuReadings& gpu) {
  const protocol::ReportedPower* best = nullptr;
  const auto rank = [](const protocol::ReportedPower& one) {
    return (one.power.value ? 0 : 100) + (one.scope == PowerScope::gpu ? 0 : 10) + static_cast<int>(one.kind);
  };
  for (const protocol::ReportedPower& one : gpu.power) {
    if (one.scope != PowerScope::memory && (best == nullptr || rank(one) < rank(*best))) {
      best = &one;
    }
  }
  return best;
}

std::optional<CounterReading> counter_of(const ReportedReading<Joules>& energy,
                                         const std::optional<protocol::ReportedCounter>& counter,
                                         std::uint64_t generation) {
  if (!energy.value) {
    return std::nullopt;
  }
  return CounterReading{.at = energy.at,
                        .value = *energy.value,
                        .wraps_at = counter ? counter->wraps_at : std::nullopt,
                        .generation = generation};
}

const protocol::ListedGpu* listed_gpu(const protocol::DiscoveryAnswer& discovery, std::uint32_t id) {
  const auto found = std::ranges::find(discovery.gpus, id, &protocol::ListedGpu::id);
  return found == discovery.gpus.end() ? nullptr : &*found;
}

DeviceReading reading_of(const protocol::GpuReadings& gpu, const protocol::DiscoveryAnswer& discovery,
                         const Holders& holders) {
  DeviceReading told;
  WatchedDevice& device = told.device;
  device.id = gpu.id;
  device.uuid = fit_to_show(gpu.uuid);
  if (const protocol::ListedGpu* const listed = listed_gpu(discovery, gpu.id)) {
    device.name = fit_to_show(listed->name.value_or(""));
  }
  if (const protocol::ReportedPower* const power = nearest_power(gpu)) {
    device.power = power->power.value;
    device.power_reason = device.power ? "" : why_none(power->power);
  } else {
    device.power_reason = "this GPU reports none";
  }
  const ReportedReading<Watts>& limit = gpu.limits.enforced.value ? gpu.limits.enforced : gpu.limits.current;
  device.limit = limit.value;
  device.limit_reason = limit.value ? "" : why_none(limit);
  told.counter = counter_of(gpu.energy, gpu.counter, gpu.generation);
  device.energy_reason = told.counter ? "" : why_none(gpu.energy);
  if (const auto holder = holders.of.find(gpu.id); holder != holders.of.end()) {
    device.holder = holder->second;
  } else {
    device.holder_reason = holders.unknown.empty() ? "no process has a lease of it" : holders.unknown;
  }
  return told;
}

DeviceReading of_cpu(DeviceKind kind, const protocol::CpuReadings& cpu, const protocol::CpuCounterReading& counter) {
  DeviceReading told;
  told.device.kind = kind;
  told.device.id = cpu.id;
  told.device.name = fit_to_show(cpu.name);
  told.device.limit_reason = "zeusd reports none for a CPU package";
  told.device.holder_reason = "CPU packages have no leases";
  told.counter = counter_of(counter.energy, counter.counter, cpu.generation);
  if (told.counter) {
    told.counter->began_ns = counter.began_ns;
  } else {
    told.device.energy_reason = why_none(counter.energy);
    told.device.power_reason = told.device.energy_reason;
  }
  return told;
}

}  // namespace

Holders holders_of(const protocol::LeaseList& leases) {
  Holders holders;
  for (const protocol::ListedLease& lease : leases.leases) {
    for (const protocol::LeasedGpu& gpu : lease.gpus) {
      holders.of[gpu.id] = fit_to_show(to_text(lease.holder));
    }
  }
  return holders;
}

std::vector<DeviceReading> devices_of(const protocol::Readings& readings, const protocol::DiscoveryAnswer& discovery,
                                      const Holders& holders, const std::map<std::uint32_t, std::string>& refused) {
  std::vector<DeviceReading> devices;
  for (const protocol::GpuReadings& gpu : readings.gpus) {
    devices.push_back(reading_of(gpu, discovery, holders));
  }
  for (const auto& [id, why] : refused) {
    if (const protocol::ListedGpu* const listed = listed_gpu(discovery, id)) {
      protocol::GpuReadings unread;
      unread.id = id;
      unread.uuid = listed->uuid.value_or("");
      DeviceReading told = reading_of(unread, discovery, holders);
      told.device.power_reason = told.device.limit_reason = told.device.energy_reason = fit_to_show(why);
      devices.push_back(std::move(told));
    }
  }
  for (const protocol::CpuReadings& cpu : readings.cpus) {
    devices.push_back(of_cpu(DeviceKind::cpu, cpu, cpu.package));
    const auto listed = std::ranges::find(discovery.cpus, cpu.id, &protocol::ListedCpu::id);
    if (listed != discovery.cpus.end() && listed->dram_available) {
      devices.push_back(of_cpu(DeviceKind::memory, cpu, cpu.dram));
    }
  }
  return devices;
}

std::vector<DeviceReading> devices_of(const ExistingAnswers& answers, const protocol::DiscoveryAnswer& discovery,
                                      Instant at) {
  std::vector<DeviceReading> devices;
  const std::string untold = answers.gpu_refusal.empty() ? "it is not reported" : fit_to_show(answers.gpu_refusal);
  const auto counter = [at](Joules value) { return CounterReading{.at = at, .value = value}; };
  for (const protocol::ListedGpu& gpu : discovery.gpus) {
    DeviceReading told;
    told.device.id = gpu.id;
    told.device.name = fit_to_show(gpu.name.value_or(""));
    told.device.power_reason = told.device.limit_reason = told.device.energy_reason = untold;
    told.device.holder_reason = "this daemon knows no leases";
    if (answers.power && answers.power->power.of.contains(gpu.id)) {
      told.device.power = answers.power->power.of.at(gpu.id).amount();
    }
    if (answers.limits && answers.limits->of.contains(gpu.id)) {
      told.device.limit = answers.limits->of.at(gpu.id).limit.amount();
    }
    if (answers.energy && answers.energy->of.contains(gpu.id)) {
      told.counter = counter(answers.energy->of.at(gpu.id).energy.amount());
    }
    devices.push_back(std::move(told));
  }
  const std::string cpu_untold = answers.cpu_refusal.empty() ? "it is not reported" : fit_to_show(answers.cpu_refusal);
  const auto add = [&](DeviceKind kind, std::uint32_t id, const std::optional<protocol::WholeMicrojoules>& energy) {
    DeviceReading told;
    told.device.kind = kind;
    told.device.id = id;
    told.device.power_reason = told.device.energy_reason = cpu_untold;
    told.device.limit_reason = "zeusd reports none for a CPU package";
    told.device.holder_reason = "CPU packages have no leases";
    if (energy) {
      told.counter = counter(energy->amount());
    }
    devices.push_back(std::move(told));
  };
  for (const protocol::ListedCpu& cpu : discovery.cpus) {
    const protocol::CpuEnergy* energy = nullptr;
    if (answers.cpus && answers.cpus->of.contains(cpu.id)) {
      energy = &answers.cpus->of.at(cpu.id);
    }
    add(DeviceKind::cpu, cpu.id, energy != nullptr ? energy->package : std::nullopt);
    if (cpu.dram_available) {
      add(DeviceKind::memory, cpu.id, energy != nullptr ? energy->dram : std::nullopt);
    }
  }
  return devices;
}

}  // namespace zeus::cli
