#include "device/gpu_identity.hpp"

#include <fmt/format.h>

namespace zeus::device {

std::string to_text(const GpuIdentity& identity, std::optional<int> number) {
  return number ? fmt::format("GPU {} ({})", *number, identity.name)
                : fmt::format("{} ({})", identity.uuid, identity.name);
}

}  // namespace zeus::device
