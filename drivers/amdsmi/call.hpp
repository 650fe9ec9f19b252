// How to define the entry points of AMD's system management library (drivers/session/entry_point.hpp).
#pragma once

#include "abi/amdsmi/amdsmi_abi.hpp"
#include "drivers/session/entry_point.hpp"

namespace zeus::drivers::amdsmi {

using namespace abi::amdsmi;  // NOLINT(google-build-using-namespace): what a driver is made of

struct Api {
  using Code = abi::amdsmi::Code;
  using Handle = Processor;
  static constexpr Vendor vendor = Vendor::amd;

  static Code code_of(Refusal refusal);
};

using Entry = EntryPoint<Api>;

}  // namespace zeus::drivers::amdsmi

// Marks what the library exports to its clients; everything else is hidden.
#define ZEUS_AMDSMI extern "C" __attribute__((visibility("default")))
