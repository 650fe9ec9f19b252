// The devices of this machine as libzeus.so measures and sets them: found once per process, with one sampler shared by
// all languages in it. Any thread; nothing here is ever destroyed. Tests that link this module's objects bring another
// machine (tests/support/virtual_machine.cpp), so machine.cpp is compiled alone.
#pragma once

#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "device/inventory.hpp"
#include "measure/sampler_source.hpp"

#include <memory>
#include <vector>

namespace zeus::library {

struct Machine {
  Clock& clock;
  device::Inventory inventory;                      // all devices
  std::vector<device::DiscoveredGpu> gpus;          // the GPUs that this program sees, by number
  std::shared_ptr<measure::SamplerSource> sampler;  // of `gpus` and of all CPU packages
  std::shared_ptr<control::Lessor> lessor;          // the daemon, if there is one
};

const Machine& this_machine();

// The book of leases of this machine's GPUs. A forked child has a book of its own.
control::LeaseBook& lease_book();
// A book of the same leases for these GPUs, whose controls may be the caller's.
control::LeaseBook open_lease_book(std::vector<device::DiscoveredGpu> gpus);

}  // namespace zeus::library
