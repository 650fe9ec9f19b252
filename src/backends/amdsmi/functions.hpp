// The calls of AMD's system management library that this back-end makes, as a table: filled from the library at run
// time, or by hand in a test. A call that the library lacks is null, and features that need it are not supported. Plain
// values; the library must stay loaded as long as the table is used.
#pragma once

#include "abi/amdsmi/amdsmi_abi.hpp"
#include "base/dynamic_library.hpp"

#include <cstdint>

namespace zeus::backends::amdsmi {

namespace abi = zeus::abi::amdsmi;

struct Functions {
  abi::Code (*init)(std::uint64_t) = nullptr;
  abi::Code (*shut_down)() = nullptr;
  abi::Code (*library_version)(abi::Version*) = nullptr;
  abi::Code (*sockets)(std::uint32_t*, abi::Socket**) = nullptr;
  abi::Code (*processors)(abi::Socket*, std::uint32_t*, abi::Processor**) = nullptr;
  abi::Code (*processor_type)(abi::Processor*, std::uint32_t*) = nullptr;

  abi::Code (*bdf)(abi::Processor*, std::uint64_t*) = nullptr;
  abi::Code (*uuid)(abi::Processor*, std::uint32_t*, char*) = nullptr;
  abi::Code (*asic_info)(abi::Processor*, abi::AsicInfo*) = nullptr;
  abi::Code (*enumeration_info)(abi::Processor*, abi::EnumerationInfo*) = nullptr;
  abi::Code (*kfd_info)(abi::Processor*, abi::KfdInfo*) = nullptr;
  abi::Code (*driver_info)(abi::Processor*, abi::DriverInfo*) = nullptr;

  abi::Code (*energy_count)(abi::Processor*, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  abi::Code (*power_info)(abi::Processor*, abi::PowerInfo*) = nullptr;
  abi::Code (*power_cap)(abi::Processor*, std::uint32_t, abi::PowerCap*) = nullptr;
  abi::Code (*set_power_cap)(abi::Processor*, std::uint32_t, std::uint64_t) = nullptr;
  abi::Code (*clock_info)(abi::Processor*, abi::ClockType, abi::ClockInfo*) = nullptr;
  abi::Code (*frequencies)(abi::Processor*, abi::ClockType, abi::Frequencies*) = nullptr;
  abi::Code (*set_clock_range)(abi::Processor*, std::uint64_t, std::uint64_t, abi::ClockType) = nullptr;
  abi::Code (*set_level)(abi::Processor*, std::uint32_t) = nullptr;
  abi::Code (*temperature)(abi::Processor*, std::uint32_t, std::uint32_t, std::int64_t*) = nullptr;
  abi::Code (*activity)(abi::Processor*, abi::EngineUsage*) = nullptr;
  abi::Code (*process_list)(abi::Processor*, std::uint32_t*, abi::Process*) = nullptr;

  // True if the calls are there that no back-end can do without.
  [[nodiscard]] bool usable() const {
    return init != nullptr && shut_down != nullptr && library_version != nullptr && sockets != nullptr &&
           processors != nullptr && bdf != nullptr;
  }
};

Functions load_functions(const DynamicLibrary& library);

}  // namespace zeus::backends::amdsmi
