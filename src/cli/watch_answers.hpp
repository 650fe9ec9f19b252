// Turns a daemon's answers into the values that `zeus watch` counts with. Strings of a daemon are made safe for a
// terminal. Pure functions; any thread.
#pragma once

#include "cli/watch_tally.hpp"
#include "protocol/device_bodies.hpp"
#include "protocol/device_leases.hpp"
#include "protocol/device_readings.hpp"
#include "protocol/discovery.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

// Who holds leases of our daemon's GPUs, or why that is not known.
struct Holders {
  std::map<std::uint32_t, std::string> of;
  std::string unknown = {};  // empty where it is known
};
Holders holders_of(const protocol::LeaseList& leases);

// From our daemon. `refused` has the reason for each GPU that is missing from the readings.
std::vector<DeviceReading> devices_of(const protocol::Readings& readings, const protocol::DiscoveryAnswer& discovery,
                                      const Holders& holders, const std::map<std::uint32_t, std::string>& refused);

// The existing daemon's answers. A missing answer was refused, for the reason given.
struct ExistingAnswers {
  std::optional<protocol::GpuPowerAnswer> power = std::nullopt;
  std::optional<protocol::GpuEnergyAnswer> energy = std::nullopt;
  std::optional<protocol::GpuPowerLimitAnswer> limits = std::nullopt;
  std::optional<protocol::CpuEnergyAnswer> cpus = std::nullopt;
  std::string gpu_refusal = {};
  std::string cpu_refusal = {};
};
std::vector<DeviceReading> devices_of(const ExistingAnswers& answers, const protocol::DiscoveryAnswer& discovery,
                                      Instant at);

}  // namespace zeus::cli
