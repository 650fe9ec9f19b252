#include "backends/amdsmi/amdsmi_library.hpp"

#include <algorithm>

namespace zeus::backends::amdsmi {

Failure Api::failure_of(abi::Code code) {
  switch (code) {
    case abi::Code::not_supported:
    case abi::Code::not_yet_implemented:
    case abi::Code::no_data:
    case abi::Code::setting_unavailable:
      return {Reason::unsupported, {}};
    case abi::Code::no_permission:
      return {Reason::permission, "users of GPUs are in the groups `video` and `render`"};
    case abi::Code::init_error:
    case abi::Code::not_initialised:
      return {Reason::lost, "the driver's library was closed, or the process has forked"};
    case abi::Code::driver_not_loaded:
    case abi::Code::no_driver:
    case abi::Code::restart_failed:
      return {Reason::lost, "the driver is not loaded any more"};
    case abi::Code::not_found:
      return {Reason::lost, "the driver does not know this GPU any more"};
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
    case abi::Code::out_of_bounds:
      return {Reason::out_of_range, {}};
    case abi::Code::no_permission:
      return {Reason::permission, "settings need root"};
    default:
      return failure_of(code);
  }
}

DeviceProblem Api::library_absence() {
  return {
      driver_name, "its management library, libamd_smi.so, is not installed",
      "install ROCm 6.3 or newer (package amd-smi-lib), and add /opt/rocm/lib to LD_LIBRARY_PATH if it is elsewhere"};
}

abi::Code AmdsmiLibrary::open() {
  const Code code = VendorLibrary::open();
  if (code == Code::success) {
    constexpr std::uint32_t safe_major = 26;
    constexpr std::uint32_t safe_minor = 2;
    WithRoom<abi::Version> version;
    functions().library_version(&version.value);
    version_ = version.value;
    if (version_.major < safe_major || (version_.major == safe_major && version_.minor < safe_minor)) {
      call_one_at_a_time();
    }
  }
  return code;
}

std::vector<abi::Processor*> AmdsmiLibrary::gpus() const {
  std::vector<abi::Processor*> found;
  std::uint32_t socket_count = 0;
  call(functions().sockets, &socket_count, static_cast<abi::Socket**>(nullptr));
  std::vector<abi::Socket*> sockets(socket_count);
  call(functions().sockets, &socket_count, sockets.data());
  sockets.resize(std::min<std::size_t>(socket_count, sockets.size()));
  for (abi::Socket* const socket : sockets) {
    std::uint32_t count = 0;
    call(functions().processors, socket, &count, static_cast<abi::Processor**>(nullptr));
    std::vector<abi::Processor*> processors(count);
    call(functions().processors, socket, &count, processors.data());
    processors.resize(std::min<std::size_t>(count, processors.size()));
    for (abi::Processor* const processor : processors) {
      std::uint32_t type = abi::processor_is_gpu;
      call(functions().processor_type, processor, &type);
      if (type == abi::processor_is_gpu) {
        found.push_back(processor);
      }
    }
  }
  return found;
}

}  // namespace zeus::backends::amdsmi
