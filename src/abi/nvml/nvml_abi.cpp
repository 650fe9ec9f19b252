// Checks the layout of every structure against the vendor's own Python package (nvidia-ml-py 13.615).
#include "abi/nvml/nvml_abi.hpp"

#include <cstddef>

namespace zeus::abi::nvml {

static_assert(offsetof(FieldValue, scope) == 4 && offsetof(FieldValue, timestamp_us) == 8 &&
              offsetof(FieldValue, latency_us) == 16 && offsetof(FieldValue, type) == 24 &&
              offsetof(FieldValue, result) == 28 && offsetof(FieldValue, value) == 32);
static_assert(offsetof(Sample, value) == 8);
static_assert(offsetof(Memory, free) == 8 && offsetof(Memory, used) == 16);
static_assert(offsetof(MemoryV2, total) == 8 && offsetof(MemoryV2, reserved) == 16 && offsetof(MemoryV2, free) == 24 &&
              offsetof(MemoryV2, used) == 32);
static_assert(offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus) == 20 && offsetof(PciInfo, device) == 24 &&
              offsetof(PciInfo, pci_device_id) == 28 && offsetof(PciInfo, pci_subsystem_id) == 32 &&
              offsetof(PciInfo, bus_id) == 36);
static_assert(offsetof(ProcessInfo, used_memory) == 8 && offsetof(ProcessInfo, gpu_instance) == 16 &&
              offsetof(ProcessInfo, compute_instance) == 20);
static_assert(offsetof(ProcessDetail, used_memory) == 8 && offsetof(ProcessDetail, gpu_instance) == 16 &&
              offsetof(ProcessDetail, compute_instance) == 20 && offsetof(ProcessDetail, protected_memory) == 24);
static_assert(offsetof(ProcessDetailList, mode) == 4 && offsetof(ProcessDetailList, count) == 8 &&
              offsetof(ProcessDetailList, processes) == 16);
static_assert(offsetof(ProcessUtilization, timestamp_us) == 8 && offsetof(ProcessUtilization, sm) == 16 &&
              offsetof(ProcessUtilization, memory) == 20 && offsetof(ProcessUtilization, encoder) == 24 &&
              offsetof(ProcessUtilization, decoder) == 28);
static_assert(offsetof(ViolationTime, violation_ns) == 8);
static_assert(offsetof(Temperature, sensor) == 4 && offsetof(Temperature, celsius) == 8);
static_assert(offsetof(PowerValue, scope) == 4 && offsetof(PowerValue, milliwatts) == 8);

}  // namespace zeus::abi::nvml
