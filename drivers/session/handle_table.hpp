// The handles that a driver library gives out for GPUs: addresses that clients pass back, checked without reading what
// they point to. Constant; any thread.
#pragma once

#include "drivers/session/gpu_spec.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace zeus::drivers {

// One table for each type of handle in a library.
template <typename Handle>
class HandleTable {
 public:
  static HandleTable& instance() {
    static HandleTable table;
    return table;
  }

  [[nodiscard]] Handle* at(std::size_t place) { return &handles_[place]; }
  // The index among the first `count` GPUs; nothing for any other address.
  [[nodiscard]] std::optional<std::size_t> place_of(const void* handle, std::size_t count) const {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(handles_.data());
    const bool known = offset % sizeof(Handle) == 0 && offset / sizeof(Handle) < count;
    return known ? std::optional{offset / sizeof(Handle)} : std::nullopt;
  }

 private:
  HandleTable() = default;

  std::array<Handle, most_gpus> handles_{};
};

}  // namespace zeus::drivers
