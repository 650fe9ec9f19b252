// The devices of this machine as libzeus.so measures and sets them: found once per process, with one sampler for every
// language that shares it. Any thread; nothing here is ever destroyed.
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
  device::Inventory inventory;                      // all there is
  std::vector<device::DiscoveredGpu> gpus;          // of them, those that this program sees, by their numbers
  std::shared_ptr<measure::SamplerSource> sampler;  // of `gpus` and of all CPU packages
  std::shared_ptr<control::Lessor> lessor;          // the daemon, where there is one
};

const Machine& this_machine();

// Where leases of this machine's GPUs are taken. A forked child has a book of its own.
control::LeaseBook& lease_book();
// A book of the same leases in which these are the GPUs: with controls of somebody else's.
control::LeaseBook open_lease_book(std::vector<device::DiscoveredGpu> gpus);

}  // namespace zeus::library
