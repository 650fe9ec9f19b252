#include "backends/nvml/session.hpp"

#include <unistd.h>

namespace zeus::backends::nvml {

Failure failure_of(abi::Code code) {
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

Failure failure_of_setting(abi::Code code) {
  switch (code) {
    case abi::Code::invalid_argument:
      return {Reason::out_of_range, {}};
    case abi::Code::no_permission:
      return {Reason::permission, "setting takes root, or CAP_SYS_ADMIN in a container"};
    default:
      return failure_of(code);
  }
}

Session::~Session() {
  if (opened_by_ == ::getpid()) {
    functions_.shutdown();
  }
}

abi::Code Session::open() {
  const abi::Code code = functions_.init();
  opened_by_ = code == abi::Code::success ? ::getpid() : 0;
  return code;
}

device::Outcome Session::reopen(std::uint64_t seen) {
  if (seen != generation_) {
    return device::done;
  }
  if (opened_by_ == ::getpid()) {
    functions_.shutdown();
  }
  if (const abi::Code code = open(); code != abi::Code::success) {
    return failure_of(code);
  }
  ++generation_;
  return device::done;
}

}  // namespace zeus::backends::nvml
