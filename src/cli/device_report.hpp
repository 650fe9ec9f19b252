// Everything that `zeus devices` and `zeus doctor` print about this machine, gathered once. The writers turn it into
// text or JSON. Once gathered, it is a plain value.
#pragma once

#include "cli/command.hpp"
#include "control/lease_record.hpp"
#include "device/inventory.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

struct DeviceReport {
  device::Inventory inventory;
  // One for each GPU: how often its energy counter moves.
  std::vector<Reading<Seconds>> update_periods;
  // For each GPU: who holds a lease of it, and for whom.
  std::vector<std::optional<control::Claim>> leases;
  // Problems of back-ends and of the visibility variables, and what dead holders of leases left changed. If no GPU or
  // no CPU package was found, also why.
  std::vector<DeviceProblem> problems;
};

// Watches the counters for up to a second.
DeviceReport gather_devices(Context& context);

// The power to show for a GPU: the most direct kind that it has, and which kind that is.
struct ShownPower {
  Reading<device::Stamped<Watts>> reading;
  PowerKind kind = PowerKind::instant;
};
ShownPower power_to_show(const device::Gpu& gpu);

// The form that docs/cli.md promises, on one line, and a table for a person.
std::string to_json(const DeviceReport& report);
std::string to_text(const DeviceReport& report, bool in_colour = false);

}  // namespace zeus::cli
