#include "backends/nvml/functions.hpp"

#include <initializer_list>
#include <type_traits>

namespace zeus::backends::nvml {

namespace {

template <typename Function>
void take(const DynamicLibrary& library, Function*& call, std::initializer_list<const char*> names) {
  call = library.function<Function>(names);
}

void take_identity(const DynamicLibrary& library, Functions& table) {
  take(library, table.init, {"nvmlInit_v2", "nvmlInit"});
  take(library, table.shutdown, {"nvmlShutdown"});
  take(library, table.driver_version, {"nvmlSystemGetDriverVersion"});
  take(library, table.library_version, {"nvmlSystemGetNVMLVersion"});
  take(library, table.device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  take(library, table.device_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  take(library, table.device_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  take(library, table.uuid, {"nvmlDeviceGetUUID"});
  take(library, table.name, {"nvmlDeviceGetName"});
  take(library, table.pci_info, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  take(library, table.core_count, {"nvmlDeviceGetNumGpuCores"});
}

void take_power(const DynamicLibrary& library, Functions& table) {
  take(library, table.total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  take(library, table.power_usage, {"nvmlDeviceGetPowerUsage"});
  take(library, table.field_values, {"nvmlDeviceGetFieldValues"});
  take(library, table.samples, {"nvmlDeviceGetSamples"});
  take(library, table.power_limit, {"nvmlDeviceGetPowerManagementLimit"});
  take(library, table.default_power_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  take(library, table.enforced_power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  take(library, table.power_limit_range, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  take(library, table.set_power_limit, {"nvmlDeviceSetPowerManagementLimit"});
}

void take_clocks(const DynamicLibrary& library, Functions& table) {
  take(library, table.clock, {"nvmlDeviceGetClockInfo"});
  take(library, table.maximum_clock, {"nvmlDeviceGetMaxClockInfo"});
  take(library, table.supported_memory_clocks, {"nvmlDeviceGetSupportedMemoryClocks"});
  take(library, table.supported_graphics_clocks, {"nvmlDeviceGetSupportedGraphicsClocks"});
  take(library, table.lock_graphics_clocks, {"nvmlDeviceSetGpuLockedClocks"});
  take(library, table.reset_graphics_clocks, {"nvmlDeviceResetGpuLockedClocks"});
  take(library, table.lock_memory_clocks, {"nvmlDeviceSetMemoryLockedClocks"});
  take(library, table.reset_memory_clocks, {"nvmlDeviceResetMemoryLockedClocks"});
}

void take_state(const DynamicLibrary& library, Functions& table) {
  take(library, table.temperature, {"nvmlDeviceGetTemperatureV"});
  take(library, table.old_temperature, {"nvmlDeviceGetTemperature"});
  take(library, table.utilization, {"nvmlDeviceGetUtilizationRates"});
  take(library, table.throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  take(library, table.persistence_mode, {"nvmlDeviceGetPersistenceMode"});
  take(library, table.set_persistence_mode, {"nvmlDeviceSetPersistenceMode"});
  take(library, table.compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  take(library, table.graphics_processes,
       {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  take(library, table.old_compute_processes, {"nvmlDeviceGetComputeRunningProcesses"});
  take(library, table.old_graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses"});
  take(library, table.mig_mode, {"nvmlDeviceGetMigMode"});
  take(library, table.mig_capacity, {"nvmlDeviceGetMaxMigDeviceCount"});
  take(library, table.mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  take(library, table.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  take(library, table.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
}

}  // namespace

Functions load_functions(const DynamicLibrary& library) {
  Functions table;
  take_identity(library, table);
  take_power(library, table);
  take_clocks(library, table);
  take_state(library, table);
  return table;
}

}  // namespace zeus::backends::nvml
