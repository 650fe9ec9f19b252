// The list of GPUs, and the identity of each.

#include "drivers/nvml/call.hpp"
#include "drivers/nvml/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace zeus::drivers::nvml {

namespace {

constexpr unsigned vendor = 0x10de;
constexpr unsigned most_pcie_lanes = 16;

std::string bus_id(std::uint32_t index) {
  return fmt::format("00000000:{:02X}:00.0", pci_bus(index));
}

// Finds the GPU that `is` returns true for.
template <typename Is>
Code find_handle(Session& session, Instant now, std::string_view name, Device** device, Is is) {
  for (const std::uint32_t index : session.shown_by(Vendor::nvidia)) {
    if (is(index)) {
      return Entry::give_handle(session, index, now, name, device);
    }
  }
  return Code::not_found;
}

// "00000000:01:00.0" and "0000:01:00.0" are the same; letters may have either case.
bool same_bus_id(std::string_view asked, std::uint32_t index) {
  const std::string full = bus_id(index);
  const std::string_view shorter = std::string_view{full}.substr(4);
  const auto same = [&](std::string_view known) {
    return std::ranges::equal(asked, known, {}, [](unsigned char c) { return std::toupper(c); });
  };
  return same(full) || same(shorter);
}

void fill_pci(const Gpu& gpu, PciInfo& info) {
  info = {};
  info.bus = pci_bus(gpu.index);
  info.pci_device_id = card(gpu.model()).pci_device << 16U | vendor;
  info.pci_subsystem_id = vendor;
  give_text(bus_id(gpu.index), info.bus_id, sizeof(info.bus_id));
  give_text(fmt::format("0000:{:02X}:00.0", info.bus), info.bus_id_legacy, sizeof(info.bus_id_legacy));
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetCount_v2(unsigned* count) {
  return Entry::system_call(__func__, [&](const Session& session, Instant) {
    return count == nullptr ? Code::invalid_argument
                            : give(count, static_cast<unsigned>(session.shown_by(Vendor::nvidia).size()));
  });
}

ZEUS_NVML Code nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

ZEUS_NVML Code nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  return Entry::system_call(__func__, [&](Session& session, Instant now) {
    const std::vector<std::uint32_t>& shown = session.shown_by(Vendor::nvidia);
    return device == nullptr || index >= shown.size()
               ? Code::invalid_argument
               : Entry::give_handle(session, shown[index], now, "nvmlDeviceGetHandleByIndex_v2", device);
  });
}

ZEUS_NVML Code nvmlDeviceGetHandleByIndex(unsigned index, Device** device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

ZEUS_NVML Code nvmlDeviceGetHandleByUUID(const char* uuid, Device** device) {
  return Entry::system_call(__func__, [&](Session& session, Instant now) {
    if (uuid == nullptr || device == nullptr) {
      return Code::invalid_argument;
    }
    return find_handle(session, now, "nvmlDeviceGetHandleByUUID", device,
                       [&](std::uint32_t index) { return session.uuid(index) == uuid; });
  });
}

ZEUS_NVML Code nvmlDeviceGetHandleBySerial(const char* serial, Device** device) {
  return Entry::system_call(__func__, [&](Session& session, Instant now) {
    if (serial == nullptr || device == nullptr) {
      return Code::invalid_argument;
    }
    return find_handle(session, now, "nvmlDeviceGetHandleBySerial", device,
                       [&](std::uint32_t index) { return session.serial(index) == serial; });
  });
}

ZEUS_NVML Code nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** device) {
  return Entry::system_call(__func__, [&](Session& session, Instant now) {
    if (id == nullptr || device == nullptr) {
      return Code::invalid_argument;
    }
    return find_handle(session, now, "nvmlDeviceGetHandleByPciBusId_v2", device,
                       [&](std::uint32_t index) { return same_bus_id(id, index); });
  });
}

ZEUS_NVML Code nvmlDeviceGetHandleByPciBusId(const char* id, Device** device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

ZEUS_NVML Code nvmlDeviceGetIndex(Device* device, unsigned* index) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(index, gpu.session.place(gpu.index)); }, index);
}

ZEUS_NVML Code nvmlDeviceGetMinorNumber(Device* device, unsigned* minor) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(minor, gpu.session.place(gpu.index)); }, minor);
}

ZEUS_NVML Code nvmlDeviceGetName(Device* device, char* name, unsigned length) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_text(gpu.model().product(), name, length); }, name);
}

ZEUS_NVML Code nvmlDeviceGetUUID(Device* device, char* uuid, unsigned length) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_text(gpu.session.uuid(gpu.index), uuid, length); }, uuid);
}

ZEUS_NVML Code nvmlDeviceGetSerial(Device* device, char* serial, unsigned length) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_text(gpu.session.serial(gpu.index), serial, length); },
      serial);
}

ZEUS_NVML Code nvmlDeviceGetPciInfo_v3(Device* device, PciInfo* info) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        fill_pci(gpu, *info);
        return Code::success;
      },
      info);
}

ZEUS_NVML Code nvmlDeviceGetPciInfo_v2(Device* device, PciInfo* info) {
  // The second version ends where the third has its longer bus ID, in four unused words.
  constexpr std::size_t known = offsetof(PciInfo, bus_id);
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        PciInfo full{};
        fill_pci(gpu, full);
        std::copy_n(reinterpret_cast<const char*>(&full), known, reinterpret_cast<char*>(info));
        return Code::success;
      },
      info);
}

ZEUS_NVML Code nvmlDeviceGetPciInfo(Device* device, PciInfo* info) {
  // The first version ends before the subsystem.
  constexpr std::size_t known = offsetof(PciInfo, pci_subsystem_id);
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        PciInfo full{};
        fill_pci(gpu, full);
        std::copy_n(reinterpret_cast<const char*>(&full), known, reinterpret_cast<char*>(info));
        return Code::success;
      },
      info);
}

ZEUS_NVML Code nvmlDeviceGetBoardId(Device* device, unsigned* id) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(id, pci_bus(gpu.index) << 8U); }, id);
}

ZEUS_NVML Code nvmlDeviceGetMultiGpuBoard(Device* device, unsigned* multiple) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(multiple, 0U); }, multiple);
}

ZEUS_NVML Code nvmlDeviceGetBrand(Device* device, unsigned* brand) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(brand, card(gpu.model()).brand); }, brand);
}

ZEUS_NVML Code nvmlDeviceGetArchitecture(Device* device, unsigned* architecture) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(architecture, card(gpu.model()).architecture); },
      architecture);
}

ZEUS_NVML Code nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        give(major, card(gpu.model()).compute_major);
        return give(minor, card(gpu.model()).compute_minor);
      },
      major, minor);
}

ZEUS_NVML Code nvmlDeviceGetNumGpuCores(Device* device, unsigned* cores) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(cores, card(gpu.model()).cores); }, cores);
}

ZEUS_NVML Code nvmlDeviceGetMemoryBusWidth(Device* device, unsigned* bits) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(bits, card(gpu.model()).memory_bus_bits); }, bits);
}

ZEUS_NVML Code nvmlDeviceGetMaxPcieLinkGeneration(Device* device, unsigned* generation) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(generation, card(gpu.model()).pcie_generation); },
      generation);
}

ZEUS_NVML Code nvmlDeviceGetGpuMaxPcieLinkGeneration(Device* device, unsigned* generation) {
  return nvmlDeviceGetMaxPcieLinkGeneration(device, generation);
}

ZEUS_NVML Code nvmlDeviceGetCurrPcieLinkGeneration(Device* device, unsigned* generation) {
  return nvmlDeviceGetMaxPcieLinkGeneration(device, generation);
}

ZEUS_NVML Code nvmlDeviceGetMaxPcieLinkWidth(Device* device, unsigned* width) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(width, most_pcie_lanes); }, width);
}

ZEUS_NVML Code nvmlDeviceGetCurrPcieLinkWidth(Device* device, unsigned* width) {
  return nvmlDeviceGetMaxPcieLinkWidth(device, width);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
