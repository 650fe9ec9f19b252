// How the entry points of AMD's system management library are made (drivers/session/entry_point.hpp).
#pragma once

#include "drivers/amdsmi/abi.hpp"
#include "drivers/session/entry_point.hpp"

namespace zeus::drivers::amdsmi {

struct Api {
  using Code = amdsmi::Code;
  using Handle = Processor;
  static constexpr Vendor vendor = Vendor::amd;

  static Code code_of(Refusal refusal);
};

using Entry = EntryPoint<Api>;

}  // namespace zeus::drivers::amdsmi
