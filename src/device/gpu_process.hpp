// A process that has work on a GPU, as the driver sees it. A plain value.
#pragma once

#include <cstdint>
#include <optional>

namespace zeus::device {

struct GpuProcess {
  enum class Kind { compute, graphics };

  std::int64_t pid = 0;
  Kind kind = Kind::compute;
  std::optional<std::uint64_t> memory_bytes;      // unknown if the driver does not report it
  std::optional<std::uint32_t> gpu_instance;      // of MIG
  std::optional<std::uint32_t> compute_instance;  // of MIG

  friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
};

}  // namespace zeus::device
