#include "backends/amdsmi/amdsmi_backend.hpp"

#include "backends/amdsmi/amdsmi_gpu.hpp"
#include "backends/amdsmi/amdsmi_library.hpp"
#include "backends/amdsmi/counter_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace zeus::backends::amdsmi {

using device::Discovery;
using device::Stamped;

namespace {

constexpr const char* driver_name = Api::driver_name;
constexpr std::uint32_t oldest_version = 24;
constexpr Seconds watched = 500_ms;

DeviceProblem absence_of_driver() {
  return {driver_name, "its library is installed, but its kernel module is not loaded",
          "if there is an AMD GPU, run `sudo modprobe amdgpu`, and look at `dmesg` if that fails"};
}

DeviceProblem failure_to_open(abi::Code code) {
  const Failure failure = Api::failure_of(code);
  if (failure.reason == Reason::permission) {
    return {driver_name, "this user may not open its device files", "add the user to the groups `video` and `render`"};
  }
  return {driver_name,
          fmt::format("its library cannot be initialised: {}, code {}", to_string(failure),
                      static_cast<std::uint32_t>(code)),
          "run `sudo modprobe amdgpu`, and look at `dmesg`"};
}

// The runtime's name in ROCR_VISIBLE_DEVICES: asked for, or made from the serial number as the runtime does.
std::string uuid_of(AmdsmiLibrary& library, abi::Processor* processor, const abi::AsicInfo& asic) {
  WithRoom<abi::EnumerationInfo> enumeration;
  if (library.call(library.functions().enumeration_info, processor, &enumeration.value) == abi::Code::success &&
      std::string_view{enumeration.value.hip_uuid}.starts_with("GPU-")) {
    return "GPU-" + lower_case(enumeration.value.hip_uuid + 4);
  }
  const std::string serial = lower_case(asic.serial);
  if (const std::string digits = serial.starts_with("0x") ? serial.substr(2) : serial; !digits.empty()) {
    return fmt::format("GPU-{:0>16}", digits);
  }
  std::array<char, 64> text{};
  std::uint32_t length = text.size() - 1;
  library.call(library.functions().uuid, processor, &length, text.data());
  return text[0] == '\0' ? "" : "GPU-" + lower_case(text.data());
}

// HIP's numbers if the library reports them; before that the kernel's nodes; the library's own order as a last resort.
std::uint64_t order_of(AmdsmiLibrary& library, abi::Processor* processor, std::size_t position) {
  WithRoom<abi::EnumerationInfo> enumeration;
  if (library.call(library.functions().enumeration_info, processor, &enumeration.value) == abi::Code::success) {
    return enumeration.value.hip_id;
  }
  WithRoom<abi::KfdInfo> kfd;
  return library.call(library.functions().kfd_info, processor, &kfd.value) == abi::Code::success ? kfd.value.node_id
                                                                                                 : position;
}

device::GpuIdentity identify(AmdsmiLibrary& library, abi::Processor* processor) {
  WithRoom<abi::AsicInfo> asic;
  library.call(library.functions().asic_info, processor, &asic.value);
  WithRoom<abi::DriverInfo> driver;
  library.call(library.functions().driver_info, processor, &driver.value);
  device::GpuIdentity identity;
  identity.vendor = GpuVendor::amd;
  identity.uuid = uuid_of(library, processor, asic.value);
  identity.pci = address_of(library, processor);
  identity.name = asic.value.market_name;
  identity.driver = driver.value.version;
  return identity;
}

std::optional<Watts> power_of(const device::Gpu& gpu) {
  for (const PowerKind kind : {PowerKind::instant, PowerKind::average}) {
    if (const Reading<Stamped<Watts>> power = gpu.power(kind, PowerScope::gpu)) {
      return power->value;
    }
  }
  return std::nullopt;
}

// Watches all counters over the same half second.
void check_counters(const std::vector<std::shared_ptr<AmdsmiGpu>>& gpus, Clock& clock,
                    std::vector<DeviceProblem>& problems) {
  std::vector<Reading<Stamped<Joules>>> first;
  std::ranges::transform(gpus, std::back_inserter(first), [](const auto& gpu) { return gpu->energy(); });
  if (std::ranges::none_of(first, [](const auto& reading) { return static_cast<bool>(reading); })) {
    return;
  }
  clock.sleep_until(clock.now() + watched);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Reading<Stamped<Joules>> last = gpus[i]->energy();
    const Reading<device::EnergyCounter> counter = gpus[i]->energy_counter();
    if (!first[i] || !last || !counter) {
      continue;
    }
    const std::optional<Failure> verdict =
        judge_counter({first[i]->value, last->value, last->at - first[i]->at, counter->resolution, power_of(*gpus[i])});
    if (verdict) {
      gpus[i]->disbelieve_counter(*verdict);
      problems.push_back({to_text(gpus[i]->identity()),
                          fmt::format("its energy counter cannot be used: {}", verdict->detail),
                          "update ROCm; until then energy comes from power samples"});
    }
  }
}

std::vector<std::shared_ptr<AmdsmiGpu>> open_gpus(const std::shared_ptr<AmdsmiLibrary>& library) {
  const std::vector<abi::Processor*> present = library->gpus();
  std::vector<std::pair<std::uint64_t, abi::Processor*>> ordered;
  for (std::size_t position = 0; position < present.size(); ++position) {
    ordered.emplace_back(order_of(*library, present[position], position), present[position]);
  }
  std::ranges::stable_sort(ordered, {}, &std::pair<std::uint64_t, abi::Processor*>::first);
  std::vector<std::shared_ptr<AmdsmiGpu>> gpus;
  for (const auto& [order, processor] : ordered) {
    device::GpuIdentity identity = identify(*library, processor);
    identity.index = static_cast<int>(gpus.size());
    gpus.push_back(std::make_shared<AmdsmiGpu>(library, processor, std::move(identity)));
  }
  return gpus;
}

}  // namespace

AmdsmiBackend::AmdsmiBackend(Clock& clock, std::vector<std::string> names) : clock_{clock}, names_{std::move(names)} {
}

Discovery AmdsmiBackend::discover() {
  return discover_by_name<AmdsmiLibrary>(names_, clock_);
}

Discovery discover_in(const std::shared_ptr<AmdsmiLibrary>& library) {
  Discovery found;
  const abi::Code code = library->open();
  if (code == abi::Code::driver_not_loaded) {
    found.absence = absence_of_driver();  // as on a machine with the tools but without such a GPU
    return found;
  }
  if (code != abi::Code::success) {
    found.problems.push_back(failure_to_open(code));
    return found;
  }
  const abi::Version& version = library->version();
  if (version.major < oldest_version) {
    found.problems.push_back(
        {driver_name,
         fmt::format("its library has version {}, but Zeus needs {} or newer", version.major, oldest_version),
         "update ROCm to 6.3 or newer"});
    return found;
  }
  const std::vector<std::shared_ptr<AmdsmiGpu>> gpus = open_gpus(library);
  check_counters(gpus, library->clock(), found.problems);
  for (const auto& gpu : gpus) {
    found.gpus.push_back({gpu, gpu});
  }
  if (gpus.empty()) {
    found.absence =
        DeviceProblem{"AMD GPUs", "the driver's library runs here but shows no GPU",
                      "look at `lspci | grep -i amd`; in a container, give the container /dev/kfd and /dev/dri"};
  } else {
    found.summary = fmt::format("driver {}, AMD SMI {}.{}.{}", gpus.front()->identity().driver, version.major,
                                version.minor, version.release);
  }
  return found;
}

}  // namespace zeus::backends::amdsmi
