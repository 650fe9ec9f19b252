#include "backends/nvml/nvml_library.hpp"

namespace zeus::backends::nvml {

Failure Api::failure_of(abi::Code code) {
  switch (code) {
    case abi::Code::not_supported:
    case abi::Code::function_not_found:
    case abi::Code::argument_version_mismatch:
    case abi::Code::deprecated:
      return {Reason::unsupported, {}};
    case abi::Code::no_permission:
      return {Reason::permission, {}};
    case abi::Code::uninitialized:
      return {Reason::lost, "the driver's library was closed, or the process has forked"};
    case abi::Code::driver_not_loaded:
      return {Reason::lost, "the driver is not loaded any more"};
    case abi::Code::gpu_is_lost:
      return {Reason::lost, "the GPU has fallen off the bus"};
    case abi::Code::reset_required:
      return {Reason::lost, "the GPU needs a reset"};
    case abi::Code::gpu_not_found:
    case abi::Code::not_found:
      return {Reason::lost, "the driver does not know this GPU any more"};
    case abi::Code::library_mismatch:
      return {Reason::lost, "the driver was replaced while it was in use"};
    case abi::Code::timeout:
      return {Reason::timeout, {}};
    case abi::Code::invalid_argument:
      return {Reason::unknown, "the driver rejected the request"};
    default:
      return {Reason::unknown, {}};
  }
}

Failure Api::failure_of_setting(abi::Code code) {
  switch (code) {
    case abi::Code::invalid_argument:
      return {Reason::out_of_range, {}};
    case abi::Code::no_permission:
      return {Reason::permission, "settings need root, or CAP_SYS_ADMIN in a container"};
    default:
      return failure_of(code);
  }
}

DeviceProblem Api::library_absence() {
  return {
      driver_name, "its management library, libnvidia-ml.so.1, is not installed",
      "install NVIDIA's driver; in a container start it with `--gpus all` (NVIDIA Container Toolkit) and the driver "
      "capability `utility`"};
}

}  // namespace zeus::backends::nvml
