// The existing daemon's routes of GPUs.

#include "daemon/api.hpp"
#include "protocol/device_bodies.hpp"
#include "protocol/wire_values.hpp"
#include "records/json_writer.hpp"

#include <zeus/units.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::daemon {

using protocol::Ids;
using protocol::Scope;

namespace {

Watts watts_of(std::uint32_t milliwatts) {
  return Watts{static_cast<double>(milliwatts) / 1000.0};
}

ClockRange range_of(std::uint32_t least, std::uint32_t most) {
  return {Megahertz{static_cast<double>(least)}, Megahertz{static_cast<double>(most)}};
}

// One value of each GPU, by its number; or an answer with the reasons, if one could not report it.
template <typename Value, typename Pick>
std::optional<protocol::ByNumber<Value>> picked(const SharedCall& call, const std::vector<protocol::GpuReadings>& all,
                                                Pick pick) {
  protocol::ByNumber<Value> told;
  Refusals refusals;
  for (const protocol::GpuReadings& one : all) {
    pick(one, [&](const auto& reading, auto take) {
      if (reading.value) {
        take(told.of[one.id], *reading.value);
      } else {
        const Reason reason = reading.reason.value_or(Reason::unknown);
        refusals[static_cast<int>(one.id)] = {protocol::status_of(reason),
                                              to_string(Failure{reason, reading.detail ? *reading.detail : ""})};
      }
    });
  }
  if (!refusals.empty()) {
    refuse(*call, refusals);
    return std::nullopt;
  }
  return told;
}

const protocol::ReportedReading<Watts>& first_power_of(const protocol::GpuReadings& readings) {
  static const protocol::ReportedReading<Watts> none{zeus::Reading<Watts>{Reason::unsupported}, {}};
  return readings.power.empty() ? none : readings.power.front().power;
}

void set(Node& node, const SharedCall& call, const Ids& ids, bool block, const Setting& setting) {
  std::set<int> gpus;
  if (!choose_gpus(node, call, ids, ErrorForm::text, gpus)) {
    return;
  }
  // Without waiting, refusals that are known at once are still reported; the rest comes under /v1/outcomes.
  node.desk->set_without_lease(client_of(*call), gpus, setting, block ? call->wanted() : std::function<bool()>{},
                               [call](const Refusals& refusals) { done_or_refuse(*call, refusals); });
  if (!block && !call->is_answered()) {
    call->done();
  }
}

void set_power_limit(Node& node, const SharedCall& call) {
  Ids gpus;
  bool block = false;
  std::uint32_t limit = 0;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"power_limit_mw", limit}})) {
    set(node, call, gpus, block, SetPowerLimit{watts_of(limit)});
  }
}

void set_persistence_mode(Node& node, const SharedCall& call) {
  Ids gpus;
  bool block = false;
  bool enabled = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"enabled", enabled}})) {
    set(node, call, gpus, block, SetPersistence{enabled});
  }
}

void lock_clocks(Node& node, const SharedCall& call, ClockDomain domain) {
  Ids gpus;
  bool block = false;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"min_clock_mhz", least}, {"max_clock_mhz", most}})) {
    set(node, call, gpus, block, LockClocks{domain, range_of(least, most)});
  }
}

void set_gpu_locked_clocks(Node& node, const SharedCall& call) {
  lock_clocks(node, call, ClockDomain::graphics);
}

void set_mem_locked_clocks(Node& node, const SharedCall& call) {
  lock_clocks(node, call, ClockDomain::memory);
}

void unlock_clocks(Node& node, const SharedCall& call, const UnlockClocks& which) {
  Ids gpus;
  bool block = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}})) {
    set(node, call, gpus, block, which);
  }
}

void reset_gpu_locked_clocks(Node& node, const SharedCall& call) {
  unlock_clocks(node, call, UnlockClocks{ClockDomain::graphics});
}

void reset_mem_locked_clocks(Node& node, const SharedCall& call) {
  unlock_clocks(node, call, UnlockClocks{ClockDomain::memory});
}

void reset_locked_clocks(Node& node, const SharedCall& call) {
  unlock_clocks(node, call, UnlockClocks{});
}

// Answers with one value of each GPU that the request asks for.
template <typename Value, typename Pick, typename Write>
void report(Node& node, const SharedCall& call, std::uint32_t parts, const Pick& pick, const Write& write) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(node, call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read_gpus(node, call, gpus, parts, [call, pick, write](const std::vector<protocol::GpuReadings>& all) {
    if (const auto told = picked<Value>(call, all, pick)) {
      call->answer(write(*told));
    }
  });
}

template <typename Value, typename Pick>
void report(Node& node, const SharedCall& call, std::uint32_t parts, const Pick& pick) {
  report<Value>(node, call, parts, pick, [](const auto& told) { return records::json_line(told); });
}

void get_power(Node& node, const SharedCall& call) {
  report<protocol::WholeMilliwatts>(
      node, call, GpuReader::power_now,
      [](const protocol::GpuReadings& one, const auto& take) {
        take(first_power_of(one), [](protocol::WholeMilliwatts& told, Watts value) { told = value; });
      },
      [&node](const auto& power) {
        return records::json_line(protocol::GpuPowerAnswer{protocol::milliseconds_of(node.loop.clock().wall()), power});
      });
}

void get_cumulative_energy(Node& node, const SharedCall& call) {
  report<protocol::GpuEnergy>(node, call, GpuReader::Parts::energy,
                              [](const protocol::GpuReadings& one, const auto& take) {
                                take(one.energy, [](protocol::GpuEnergy& told, Joules value) { told.energy = value; });
                              });
}

void get_power_limit(Node& node, const SharedCall& call) {
  report<protocol::GpuPowerLimit>(
      node, call, GpuReader::Parts::limits, [](const protocol::GpuReadings& one, const auto& take) {
        take(one.limits.current, [](protocol::GpuPowerLimit& told, Watts value) { told.limit = value; });
      });
}

void get_power_limit_constraints(Node& node, const SharedCall& call) {
  report<protocol::GpuPowerLimitRange>(
      node, call, GpuReader::Parts::limits, [](const protocol::GpuReadings& one, const auto& take) {
        take(one.limits.minimum, [](protocol::GpuPowerLimitRange& told, Watts value) { told.minimum = value; });
        take(one.limits.maximum, [](protocol::GpuPowerLimitRange& told, Watts value) { told.maximum = value; });
      });
}

void get_persistence_mode(Node& node, const SharedCall& call) {
  report<protocol::GpuPersistenceMode>(
      node, call, GpuReader::Parts::persistence, [](const protocol::GpuReadings& one, const auto& take) {
        take(one.persistence_mode, [](protocol::GpuPersistenceMode& told, bool value) { told.enabled = value; });
      });
}

void stream_power(Node& node, const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(node, call, ids, ErrorForm::json, gpus) ||
      !may_read(node, call, gpus)) {
    return;
  }
  const std::shared_ptr<transport::Stream> stream = call->stream(PowerStream::headers());
  for (const int gpu : gpus) {
    node.gpu(gpu).stream->add(stream);
  }
  if (gpus.empty()) {
    node.no_device->add(stream);
  }
}

}  // namespace

std::span<const Row> gpu_rows() {
  static const Row rows[]{
      {"POST", "/gpu/set_power_limit", Scope::gpu_control, set_power_limit},
      {"POST", "/gpu/set_persistence_mode", Scope::gpu_control, set_persistence_mode},
      {"POST", "/gpu/set_gpu_locked_clocks", Scope::gpu_control, set_gpu_locked_clocks},
      {"POST", "/gpu/reset_gpu_locked_clocks", Scope::gpu_control, reset_gpu_locked_clocks},
      {"POST", "/gpu/set_mem_locked_clocks", Scope::gpu_control, set_mem_locked_clocks},
      {"POST", "/gpu/reset_mem_locked_clocks", Scope::gpu_control, reset_mem_locked_clocks},
      {"POST", "/gpu/reset_locked_clocks", Scope::gpu_control, reset_locked_clocks},
      {"GET", "/gpu/get_power", Scope::gpu_read, get_power},
      {"GET", "/gpu/get_cumulative_energy", Scope::gpu_read, get_cumulative_energy},
      {"GET", "/gpu/get_power_limit", Scope::gpu_read, get_power_limit},
      {"GET", "/gpu/get_power_limit_constraints", Scope::gpu_read, get_power_limit_constraints},
      {"GET", "/gpu/get_persistence_mode", Scope::gpu_read, get_persistence_mode},
      {"GET", "/gpu/stream_power", Scope::gpu_read, stream_power},
  };
  return rows;
}

}  // namespace zeus::daemon
