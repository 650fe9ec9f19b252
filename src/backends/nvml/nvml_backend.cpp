#include "backends/nvml/nvml_backend.hpp"

#include "backends/nvml/ask.hpp"
#include "backends/nvml/nvml_gpu.hpp"
#include "backends/nvml/nvml_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace zeus::backends::nvml {

using device::Discovery;

namespace {

constexpr const char* driver_name = Api::driver_name;

DeviceProblem failure_to_open(abi::Code code) {
  switch (code) {
    case abi::Code::driver_not_loaded:
      return {driver_name, "it is installed, but its kernel module is not loaded",
              "run `sudo modprobe nvidia`, and look at `dmesg` if that fails"};
    case abi::Code::library_mismatch:
      return {driver_name,
              "its library and its kernel module have different versions: it was updated while it was in use",
              "restart the machine"};
    case abi::Code::no_permission:
      return {
          driver_name, "this user may not open its device files",
          "give the user access to /dev/nvidiactl and /dev/nvidia0 (`ls -l /dev/nvidia*` shows which users have it)"};
    default:
      return {driver_name,
              fmt::format("its library cannot be initialised: {}, code {}", to_string(Api::failure_of(code)),
                          static_cast<int>(code)),
              "run `nvidia-smi`, and look at `dmesg`"};
  }
}

DeviceProblem failure_of_device(unsigned index, abi::Code code) {
  const Failure failure = Api::failure_of(code);
  return {fmt::format("GPU {}", index), fmt::format("it cannot be opened: {}", to_string(failure)),
          failure.reason == Reason::permission
              ? fmt::format("give this user access to /dev/nvidia{}", index)
              : std::string{"look for the reason in `dmesg` (Xid), then reset it with `sudo nvidia-smi --gpu-reset` or "
                            "restart the machine"}};
}

// "GPU-" stays as it is; the hexadecimal digits after it become lower case, because they are compared as strings.
std::string uuid_of(const Functions& nvml, abi::Device* handle) {
  const std::string uuid = ask_text(nvml.uuid, handle);
  constexpr std::size_t kept = 4;
  return uuid.substr(0, kept) + lower_case(uuid.size() > kept ? uuid.substr(kept) : "");
}

device::GpuIdentity identify(const NvmlLibrary& library, abi::Device* handle, unsigned index,
                             const std::string& driver) {
  const Functions& nvml = library.functions();
  device::GpuIdentity identity;
  identity.vendor = GpuVendor::nvidia;
  identity.uuid = uuid_of(nvml, handle);
  identity.index = static_cast<int>(index);
  identity.name = ask_text(nvml.name, handle);
  identity.driver = driver;
  if (const Reading<abi::PciInfo> pci = library.ask<abi::PciInfo>(nvml.pci_info, handle)) {
    identity.pci = {pci->domain, pci->bus, pci->device, 0};
  }
  const Reading<unsigned> cores = library.ask<unsigned>(nvml.core_count, handle);
  const Reading<unsigned> clock = library.ask<unsigned>(nvml.maximum_clock, handle, abi::ClockType::sm);
  if (cores && clock) {
    identity.relative_speed = static_cast<double>(*cores) * static_cast<double>(*clock);
  }
  return identity;
}

void note_mig(const device::Gpu& gpu, std::vector<DeviceProblem>& problems) {
  if (const Reading<device::MigState> mig = gpu.mig(); mig && mig->enabled) {
    problems.push_back(
        {to_text(gpu.identity()),
         fmt::format("MIG is enabled: energy and power can be measured only for the whole GPU, not for its {} slice{}",
                     mig->instances.size(), mig->instances.size() == 1 ? "" : "s"),
         "leave one slice in use while measuring, or disable MIG with `sudo nvidia-smi -mig 0`"});
  }
}

void add_gpu(const std::shared_ptr<NvmlLibrary>& library, unsigned index, const std::string& driver, Discovery& found) {
  abi::Device* handle = nullptr;
  if (const abi::Code code = library->functions().device_by_index(index, &handle); code != abi::Code::success) {
    found.problems.push_back(failure_of_device(index, code));
    return;
  }
  device::GpuIdentity identity = identify(*library, handle, index, driver);
  if (identity.uuid.empty()) {
    found.problems.push_back({fmt::format("GPU {}", index),
                              "it does not report its UUID, so it cannot be told from others",
                              "look for the reason in `dmesg` (Xid), then restart the machine"});
    return;
  }
  const auto gpu = std::make_shared<NvmlGpu>(library, handle, std::move(identity));
  note_mig(*gpu, found.problems);
  found.gpus.push_back({gpu, gpu});
}

}  // namespace

NvmlBackend::NvmlBackend(const Clock& clock, std::vector<std::string> names) : clock_{clock}, names_{std::move(names)} {
}

Discovery NvmlBackend::discover() {
  return discover_by_name<NvmlLibrary>(names_, clock_);
}

Discovery discover_in(const std::shared_ptr<NvmlLibrary>& library) {
  Discovery found;
  if (const abi::Code code = library->open(); code != abi::Code::success) {
    found.problems.push_back(failure_to_open(code));
    return found;
  }
  const Functions& nvml = library->functions();
  unsigned count = 0;
  if (const abi::Code code = nvml.device_count(&count); code != abi::Code::success) {
    found.problems.push_back(failure_to_open(code));
    return found;
  }
  const std::string driver = ask_text(nvml.driver_version);
  for (unsigned index = 0; index < count; ++index) {
    add_gpu(library, index, driver, found);
  }
  if (count == 0) {
    found.absence = DeviceProblem{"NVIDIA GPUs", fmt::format("the driver {} runs here but shows no GPU", driver),
                                  "look at `lspci | grep -i nvidia`; in a container, check which GPUs it was given"};
  } else {
    found.summary = fmt::format("driver {}, NVML {}", driver, ask_text(nvml.library_version));
  }
  return found;
}

}  // namespace zeus::backends::nvml
