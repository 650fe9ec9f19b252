#include "backends/amdsmi/functions.hpp"

namespace zeus::backends::amdsmi {

namespace {

template <typename Function>
void take(const DynamicLibrary& library, Function*& call, const char* name) {
  call = library.function<Function>({name});
}

}  // namespace

Functions load_functions(const DynamicLibrary& library) {
  Functions table;
  take(library, table.init, "amdsmi_init");
  take(library, table.shut_down, "amdsmi_shut_down");
  take(library, table.library_version, "amdsmi_get_lib_version");
  take(library, table.sockets, "amdsmi_get_socket_handles");
  take(library, table.processors, "amdsmi_get_processor_handles");
  take(library, table.processor_type, "amdsmi_get_processor_type");
  take(library, table.bdf, "amdsmi_get_gpu_device_bdf");
  take(library, table.uuid, "amdsmi_get_gpu_device_uuid");
  take(library, table.asic_info, "amdsmi_get_gpu_asic_info");
  take(library, table.enumeration_info, "amdsmi_get_gpu_enumeration_info");
  take(library, table.kfd_info, "amdsmi_get_gpu_kfd_info");
  take(library, table.driver_info, "amdsmi_get_gpu_driver_info");
  take(library, table.energy_count, "amdsmi_get_energy_count");
  take(library, table.power_info, "amdsmi_get_power_info");
  take(library, table.power_cap, "amdsmi_get_power_cap_info");
  take(library, table.set_power_cap, "amdsmi_set_power_cap");
  take(library, table.clock_info, "amdsmi_get_clock_info");
  take(library, table.frequencies, "amdsmi_get_clk_freq");
  take(library, table.set_clock_range, "amdsmi_set_gpu_clk_range");
  take(library, table.set_level, "amdsmi_set_gpu_perf_level");
  take(library, table.temperature, "amdsmi_get_temp_metric");
  take(library, table.activity, "amdsmi_get_gpu_activity");
  take(library, table.process_list, "amdsmi_get_gpu_process_list");
  return table;
}

}  // namespace zeus::backends::amdsmi
