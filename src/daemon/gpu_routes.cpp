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
    call->refuse(refusals);
    return std::nullopt;
  }
  return told;
}

const protocol::ReportedReading<Watts>& first_power_of(const protocol::GpuReadings& readings) {
  static const protocol::ReportedReading<Watts> none{zeus::Reading<Watts>{Reason::unsupported}, {}};
  return readings.power.empty() ? none : readings.power.front().power;
}

}  // namespace

void Api::set(const SharedCall& call, const Ids& ids, bool block, const Setting& setting) {
  std::set<int> gpus;
  if (!choose_gpus(call, ids, ErrorForm::text, gpus)) {
    return;
  }
  // Without waiting, refusals that are known at once are still reported; the rest comes under /v1/outcomes.
  node_.desk->set_without_lease(call->client(), gpus, setting, block ? call->wanted() : std::function<bool()>{},
                                [call](const Refusals& refusals) {
                                  if (refusals.empty()) {
                                    call->done();
                                  } else {
                                    call->refuse(refusals);
                                  }
                                });
  if (!block && !call->is_answered()) {
    call->done();
  }
}

void Api::set_power_limit(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  std::uint32_t limit = 0;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"power_limit_mw", limit}})) {
    set(call, gpus, block, SetPowerLimit{watts_of(limit)});
  }
}

void Api::set_persistence_mode(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  bool enabled = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"enabled", enabled}})) {
    set(call, gpus, block, SetPersistence{enabled});
  }
}

void Api::set_gpu_locked_clocks(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"min_clock_mhz", least}, {"max_clock_mhz", most}})) {
    set(call, gpus, block, LockClocks{ClockDomain::graphics, range_of(least, most)});
  }
}

void Api::set_mem_locked_clocks(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}, {"min_clock_mhz", least}, {"max_clock_mhz", most}})) {
    set(call, gpus, block, LockClocks{ClockDomain::memory, range_of(least, most)});
  }
}

void Api::reset_gpu_locked_clocks(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}})) {
    set(call, gpus, block, UnlockClocks{ClockDomain::graphics});
  }
}

void Api::reset_mem_locked_clocks(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}})) {
    set(call, gpus, block, UnlockClocks{ClockDomain::memory});
  }
}

void Api::reset_locked_clocks(const SharedCall& call) {
  Ids gpus;
  bool block = false;
  if (call->read_query({{"gpu_ids", gpus}, {"block", block}})) {
    set(call, gpus, block, UnlockClocks{});
  }
}

void Api::get_power(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read(call, gpus, GpuReader::power_now, [this, call](const auto& all) {
    const auto power =
        picked<protocol::WholeMilliwatts>(call, all, [](const protocol::GpuReadings& one, const auto& take) {
          take(first_power_of(one), [](protocol::WholeMilliwatts& told, Watts value) { told = value; });
        });
    if (power) {
      call->answer(
          records::json_line(protocol::GpuPowerAnswer{protocol::milliseconds_of(node_.loop.clock().wall()), *power}));
    }
  });
}

void Api::get_cumulative_energy(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read(call, gpus, GpuReader::Parts::energy, [call](const auto& all) {
    const auto energy = picked<protocol::GpuEnergy>(call, all, [](const protocol::GpuReadings& one, const auto& take) {
      take(one.energy, [](protocol::GpuEnergy& told, Joules value) { told.energy = value; });
    });
    if (energy) {
      call->answer(records::json_line(*energy));
    }
  });
}

void Api::get_power_limit(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read(call, gpus, GpuReader::Parts::limits, [call](const auto& all) {
    const auto limits =
        picked<protocol::GpuPowerLimit>(call, all, [](const protocol::GpuReadings& one, const auto& take) {
          take(one.limits.current, [](protocol::GpuPowerLimit& told, Watts value) { told.limit = value; });
        });
    if (limits) {
      call->answer(records::json_line(*limits));
    }
  });
}

void Api::get_power_limit_constraints(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read(call, gpus, GpuReader::Parts::limits, [call](const auto& all) {
    const auto ranges =
        picked<protocol::GpuPowerLimitRange>(call, all, [](const protocol::GpuReadings& one, const auto& take) {
          take(one.limits.minimum, [](protocol::GpuPowerLimitRange& told, Watts value) { told.minimum = value; });
          take(one.limits.maximum, [](protocol::GpuPowerLimitRange& told, Watts value) { told.maximum = value; });
        });
    if (ranges) {
      call->answer(records::json_line(*ranges));
    }
  });
}

void Api::get_persistence_mode(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus)) {
    return;
  }
  read(call, gpus, GpuReader::Parts::persistence, [call](const auto& all) {
    const auto modes =
        picked<protocol::GpuPersistenceMode>(call, all, [](const protocol::GpuReadings& one, const auto& take) {
          take(one.persistence_mode, [](protocol::GpuPersistenceMode& told, bool value) { told.enabled = value; });
        });
    if (modes) {
      call->answer(records::json_line(*modes));
    }
  });
}

void Api::stream_power(const SharedCall& call) {
  std::optional<Ids> ids;
  std::set<int> gpus;
  if (!call->read_query({{"gpu_ids", ids}}) || !choose_gpus(call, ids, ErrorForm::json, gpus) ||
      !may_read(call, gpus)) {
    return;
  }
  const std::shared_ptr<transport::Stream> stream = call->stream();
  for (const int gpu : gpus) {
    node_.gpu(gpu).stream->add(stream);
  }
  if (gpus.empty()) {
    node_.no_device->add(stream);
  }
}

}  // namespace zeus::daemon
