// Initialisation and shutdown, the list of GPUs, and the identity of each.

#include "drivers/amdsmi/call.hpp"

#include <fmt/format.h>

#include <string>

namespace zeus::drivers::amdsmi {

namespace {

// AMD's number in the public PCI ID list; no device in that list is a virtual one.
constexpr std::uint32_t vendor = 0x1002;

// Gives handles, one for each GPU, as the library does: only the number if there is no buffer for them.
template <typename Handle>
Code give_handles(std::size_t first, std::size_t available, std::uint32_t* count, Handle** out) {
  if (out != nullptr) {
    const std::size_t given = std::min<std::size_t>(*count, available);
    for (std::size_t i = 0; i < given; ++i) {
      out[i] = HandleTable<Handle>::instance().at(first + i);
    }
  }
  *count = static_cast<std::uint32_t>(out == nullptr ? available : std::min<std::size_t>(*count, available));
  return Code::success;
}

std::size_t count_of(const Session& session) {
  return session.shown_by(Vendor::amd).size();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_AMDSMI Code amdsmi_init(std::uint64_t) {
  return Attachment::instance().initialise(Vendor::amd) == AttachResult::attached ? Code::success
                                                                                  : Code::driver_not_loaded;
}

ZEUS_AMDSMI Code amdsmi_shut_down() {
  return Attachment::instance().shut_down() ? Code::success : Code::not_initialised;
}

ZEUS_AMDSMI Code amdsmi_get_lib_version(Version* version) {
  if (version == nullptr) {
    return Code::invalid_argument;
  }
  *version = {.major = 26, .minor = 2, .release = 0, .build = "virtual"};
  return Code::success;
}

ZEUS_AMDSMI Code amdsmi_status_code_to_string(Code code, const char** text) {
  if (text == nullptr) {
    return Code::invalid_argument;
  }
  *text = code == Code::success ? "AMDSMI_STATUS_SUCCESS" : "an error of the virtual driver";
  return Code::success;
}

ZEUS_AMDSMI Code amdsmi_get_socket_handles(std::uint32_t* count, Socket** sockets) {
  return Entry::system_call(__func__, [&](const Session& session, Instant) {
    return count == nullptr ? Code::invalid_argument : give_handles(0, count_of(session), count, sockets);
  });
}

ZEUS_AMDSMI Code amdsmi_get_processor_handles(Socket* socket, std::uint32_t* count, Processor** processors) {
  return Entry::system_call(__func__, [&](const Session& session, Instant) {
    const std::optional<std::size_t> place = HandleTable<Socket>::instance().place_of(socket, count_of(session));
    return count == nullptr || !place ? Code::invalid_argument : give_handles(*place, 1, count, processors);
  });
}

ZEUS_AMDSMI Code amdsmi_get_processor_type(Processor* processor, std::uint32_t* type) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu&) {
        *type = processor_is_gpu;
        return Code::success;
      },
      type);
}

ZEUS_AMDSMI Code amdsmi_get_socket_info(Socket* socket, std::size_t length, char* name) {
  return Entry::system_call(__func__, [&](const Session& session, Instant) {
    const std::optional<std::size_t> place = HandleTable<Socket>::instance().place_of(socket, count_of(session));
    if (!place || name == nullptr || length == 0) {
      return Code::invalid_argument;
    }
    copy_text(fmt::format("0000:{:02x}:00", pci_bus(session.shown_by(Vendor::amd)[*place])), name, length);
    return Code::success;
  });
}

ZEUS_AMDSMI Code amdsmi_get_gpu_device_bdf(Processor* processor, std::uint64_t* bdf) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        *bdf = std::uint64_t{pci_bus(gpu.index)} << 8U;
        return Code::success;
      },
      bdf);
}

ZEUS_AMDSMI Code amdsmi_get_processor_handle_from_bdf(std::uint64_t bdf, Processor** processor) {
  return Entry::system_call(__func__, [&](const Session& session, Instant) {
    for (const std::uint32_t index : session.shown_by(Vendor::amd)) {
      if (processor != nullptr && bdf == std::uint64_t{pci_bus(index)} << 8U) {
        *processor = HandleTable<Processor>::instance().at(session.place(index));
        return Code::success;
      }
    }
    return processor == nullptr ? Code::invalid_argument : Code::not_found;
  });
}

ZEUS_AMDSMI Code amdsmi_get_gpu_device_uuid(Processor* processor, std::uint32_t* length, char* uuid) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const std::string text = gpu.session.uuid(gpu.index).substr(4);
        if (*length <= text.size()) {
          return Code::insufficient_size;
        }
        copy_text(text, uuid, *length);
        return Code::success;
      },
      length, uuid);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_asic_info(Processor* processor, AsicInfo* info) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        *info = {};
        copy_text(fmt::format("Virtual GPU ({})", gpu.model().name()), info->market_name, sizeof(info->market_name));
        copy_text("Advanced Micro Devices Inc. [AMD/ATI]", info->vendor_name, sizeof(info->vendor_name));
        copy_text(gpu.session.serial(gpu.index), info->serial, sizeof(info->serial));
        info->vendor_id = vendor;
        info->subvendor_id = vendor;
        info->oam_id = gpu.session.place(gpu.index);
        return Code::success;
      },
      info);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_enumeration_info(Processor* processor, EnumerationInfo* info) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const std::uint32_t place = gpu.session.place(gpu.index);
        *info = {.drm_render = 128 + place, .drm_card = place, .hsa_id = place + 1, .hip_id = place, .hip_uuid = {}};
        copy_text(gpu.session.uuid(gpu.index), info->hip_uuid, sizeof(info->hip_uuid));
        return Code::success;
      },
      info);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_kfd_info(Processor* processor, KfdInfo* info) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        *info = {};
        info->node_id = gpu.session.place(gpu.index) + 1;
        info->kfd_id = info->node_id;
        return Code::success;
      },
      info);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_driver_info(Processor* processor, DriverInfo* info) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu&) {
        *info = {};
        copy_text("6.14.14", info->version, sizeof(info->version));
        copy_text("amdgpu", info->name, sizeof(info->name));
        return Code::success;
      },
      info);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::amdsmi
