// The existing daemon's routes of CPU packages.

#include "daemon/api.hpp"
#include "protocol/device_bodies.hpp"
#include "protocol/wire_values.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using protocol::Ids;
using protocol::Scope;

namespace {

// Why the energy of a package is not reported; empty if it is.
std::optional<Refused> energy_refusal(const protocol::ReportedReading<Joules>& energy) {
  if (energy.value) {
    return std::nullopt;
  }
  const Reason reason = energy.reason.value_or(Reason::unknown);
  return Refused{protocol::status_of(reason), to_string(Failure{reason, energy.detail ? *energy.detail : ""})};
}

void get_cpu_energy(Node& node, const SharedCall& call) {
  std::optional<Ids> ids;
  bool cpu = false;
  bool dram = false;
  std::set<int> cpus;
  if (!call->read_query({{"cpu_ids", ids}, {"cpu", cpu}, {"dram", dram}}) || !choose_cpus(node, call, ids, cpus)) {
    return;
  }
  read_cpus(node, call, cpus, [call, cpu, dram](const std::vector<protocol::CpuReadings>& all) {
    protocol::CpuEnergyAnswer told;
    Refusals refusals;
    for (const protocol::CpuReadings& one : all) {
      protocol::CpuEnergy& energy = told.of[one.id];
      if (cpu) {
        if (const std::optional<Refused> refused = energy_refusal(one.package.energy)) {
          refusals[static_cast<int>(one.id)] = *refused;
        } else {
          energy.package = protocol::WholeMicrojoules{*one.package.energy.value};
        }
      }
      if (dram && one.dram.energy.value) {
        energy.dram = protocol::WholeMicrojoules{*one.dram.energy.value};
      }
    }
    if (refusals.empty()) {
      call->answer(records::json_line(told));
    } else {
      refuse(*call, refusals);
    }
  });
}

void get_cpu_power(Node& node, const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> cpus;
  if (!call->read_query({{"cpu_ids", ids}}) || !choose_cpus(node, call, ids, cpus)) {
    return;
  }
  struct Progress {
    std::size_t left;
    protocol::ByNumber<protocol::CpuPower> power;
    Refusals refusals;
  };
  const auto progress = std::make_shared<Progress>(Progress{cpus.size(), {}, {}});
  const auto finish = [&node, call, progress] {
    if (!progress->refusals.empty()) {
      refuse(*call, progress->refusals);
    } else {
      call->answer(records::json_line(
          protocol::CpuPowerAnswer{protocol::milliseconds_of(node.loop.clock().wall()), progress->power}));
    }
  };
  if (cpus.empty()) {
    finish();
    return;
  }
  for (const int cpu : cpus) {
    node.cpu(cpu).power->ask([progress, finish, cpu](const CpuPowerMeter::Answer& answer) {
      if (const auto* const power = std::get_if<protocol::CpuPower>(&answer)) {
        progress->power.of[static_cast<std::uint32_t>(cpu)] = *power;
      } else {
        progress->refusals[cpu] = std::get<Refused>(answer);
      }
      if (--progress->left == 0) {
        finish();
      }
    });
  }
}

void stream_cpu_power(Node& node, const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> cpus;
  if (!call->read_query({{"cpu_ids", ids}}) || !choose_cpus(node, call, ids, cpus)) {
    return;
  }
  const std::shared_ptr<transport::Stream> stream = call->stream(PowerStream::headers());
  for (const int cpu : cpus) {
    node.cpu(cpu).stream->add(stream);
  }
  if (cpus.empty()) {
    node.no_device->add(stream);
  }
}

}  // namespace

std::span<const Row> cpu_rows() {
  static const Row rows[]{
      {"GET", "/cpu/get_cumulative_energy", Scope::cpu_read, get_cpu_energy},
      {"GET", "/cpu/get_power", Scope::cpu_read, get_cpu_power},
      {"GET", "/cpu/stream_power", Scope::cpu_read, stream_cpu_power},
  };
  return rows;
}

}  // namespace zeus::daemon
