// How the entry points of NVML are made (drivers/session/entry_point.hpp), and what its answers have in common.
#pragma once

#include "drivers/nvml/abi.hpp"
#include "drivers/session/entry_point.hpp"

#include <cstdint>
#include <string_view>

namespace zeus::drivers::nvml {

struct Api {
  using Code = Return;
  using Handle = Device;
  static constexpr Vendor vendor = Vendor::nvidia;

  static Return code_of(Refusal refusal);
};

using Entry = EntryPoint<Api>;

// Microseconds since 1970 on the session's clock.
std::int64_t stamp(const Session& session, Instant at);

// Copies a text with its zero, where the client's buffer takes it whole.
Return give_text(std::string_view text, char* buffer, unsigned length);

template <typename T>
Return give(T* out, T value) {
  *out = value;
  return Return::success;
}

}  // namespace zeus::drivers::nvml
