// The GPUs of one run, leased for it alone, with the limit and clock that it asks for. The main thread of a program.
#pragma once

#include "control/lease.hpp"
#include "device/inventory.hpp"
#include "run/training_gpus.hpp"
#include "sweep/run_record.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {

class LeasedGpus {
 public:
  explicit LeasedGpus(const run::Place& place);

  // Leases `count` of the visible GPUs, or none. If too many are leased by other processes, returns a sentence that
  // names one; ask again later. Throws an Error if it can never have so many, or may not lease them.
  [[nodiscard]] std::optional<std::string> try_to_take(int count);
  void set(std::optional<Watts> power_limit, std::optional<Megahertz> clock);
  void renew();
  // Puts back what was set, and ends the leases.
  void release();

  // The environment of a program that shall see the leased GPUs alone; without leases, ours.
  [[nodiscard]] Environment environment() const;
  // The numbers of the GPUs to measure: those leased, or without leases all that are visible.
  [[nodiscard]] std::vector<int> numbers() const;
  [[nodiscard]] std::vector<RunGpu> list() const;
  [[nodiscard]] const device::Inventory& inventory() const { return inventory_; }

 private:
  [[nodiscard]] std::vector<const device::DiscoveredGpu*> gpus() const;
  // Whether this host has such a GPU, visible or not.
  [[nodiscard]] bool has(GpuVendor vendor) const;

  const run::Place& place_;
  device::Inventory inventory_;
  std::vector<device::DiscoveredGpu> visible_;
  std::vector<control::Lease> leases_;
};

}  // namespace zeus::sweep
