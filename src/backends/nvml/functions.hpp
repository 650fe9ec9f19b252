// The calls of NVIDIA's management library that this back-end makes, as a table: filled from the library at run time,
// so that nothing needs a vendor's SDK, or by hand in a test. A call that the library lacks is null, and features that
// need it are not supported. Plain values; the library must stay loaded as long as the table is used.
#pragma once

#include "abi/nvml/nvml_abi.hpp"
#include "base/dynamic_library.hpp"

namespace zeus::backends::nvml {

namespace abi = zeus::abi::nvml;

struct Functions {
  abi::Code (*init)() = nullptr;
  abi::Code (*shutdown)() = nullptr;
  abi::Code (*driver_version)(char*, unsigned) = nullptr;
  abi::Code (*library_version)(char*, unsigned) = nullptr;
  abi::Code (*device_count)(unsigned*) = nullptr;
  abi::Code (*device_by_index)(unsigned, abi::Device**) = nullptr;
  abi::Code (*device_by_uuid)(const char*, abi::Device**) = nullptr;

  abi::Code (*uuid)(abi::Device*, char*, unsigned) = nullptr;
  abi::Code (*name)(abi::Device*, char*, unsigned) = nullptr;
  abi::Code (*pci_info)(abi::Device*, abi::PciInfo*) = nullptr;
  abi::Code (*core_count)(abi::Device*, unsigned*) = nullptr;

  abi::Code (*total_energy)(abi::Device*, unsigned long long*) = nullptr;
  abi::Code (*power_usage)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*field_values)(abi::Device*, int, abi::FieldValue*) = nullptr;
  abi::Code (*samples)(abi::Device*, abi::SampleType, unsigned long long, abi::ValueType*, unsigned*,
                       abi::Sample*) = nullptr;

  abi::Code (*power_limit)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*default_power_limit)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*enforced_power_limit)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*power_limit_range)(abi::Device*, unsigned*, unsigned*) = nullptr;
  abi::Code (*set_power_limit)(abi::Device*, unsigned) = nullptr;

  abi::Code (*clock)(abi::Device*, abi::ClockType, unsigned*) = nullptr;
  abi::Code (*maximum_clock)(abi::Device*, abi::ClockType, unsigned*) = nullptr;
  abi::Code (*supported_memory_clocks)(abi::Device*, unsigned*, unsigned*) = nullptr;
  abi::Code (*supported_graphics_clocks)(abi::Device*, unsigned, unsigned*, unsigned*) = nullptr;
  abi::Code (*lock_graphics_clocks)(abi::Device*, unsigned, unsigned) = nullptr;
  abi::Code (*reset_graphics_clocks)(abi::Device*) = nullptr;
  abi::Code (*lock_memory_clocks)(abi::Device*, unsigned, unsigned) = nullptr;
  abi::Code (*reset_memory_clocks)(abi::Device*) = nullptr;

  abi::Code (*temperature)(abi::Device*, abi::Temperature*) = nullptr;
  abi::Code (*old_temperature)(abi::Device*, abi::TemperatureSensor, unsigned*) = nullptr;
  abi::Code (*utilization)(abi::Device*, abi::Utilization*) = nullptr;
  abi::Code (*throttle_reasons)(abi::Device*, unsigned long long*) = nullptr;
  abi::Code (*persistence_mode)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*set_persistence_mode)(abi::Device*, unsigned) = nullptr;

  abi::Code (*compute_processes)(abi::Device*, unsigned*, abi::ProcessInfo*) = nullptr;
  abi::Code (*graphics_processes)(abi::Device*, unsigned*, abi::ProcessInfo*) = nullptr;
  abi::Code (*old_compute_processes)(abi::Device*, unsigned*, abi::ProcessInfoV1*) = nullptr;
  abi::Code (*old_graphics_processes)(abi::Device*, unsigned*, abi::ProcessInfoV1*) = nullptr;

  abi::Code (*mig_mode)(abi::Device*, unsigned*, unsigned*) = nullptr;
  abi::Code (*mig_capacity)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*mig_by_index)(abi::Device*, unsigned, abi::Device**) = nullptr;
  abi::Code (*gpu_instance)(abi::Device*, unsigned*) = nullptr;
  abi::Code (*compute_instance)(abi::Device*, unsigned*) = nullptr;

  // True if the calls are there that no back-end can do without.
  [[nodiscard]] bool usable() const {
    return init != nullptr && shutdown != nullptr && device_count != nullptr && device_by_index != nullptr &&
           uuid != nullptr;
  }
};

// Takes the newest version of each call that the library has.
Functions load_functions(const DynamicLibrary& library);

}  // namespace zeus::backends::nvml
