// How to define the entry points of NVML (drivers/session/entry_point.hpp), and what its answers share.
#pragma once

#include "abi/nvml/nvml_abi.hpp"
#include "drivers/session/entry_point.hpp"

#include <cstdint>
#include <string_view>

namespace zeus::drivers::nvml {

using namespace abi::nvml;  // NOLINT(google-build-using-namespace): what a driver is made of

struct Api {
  using Code = abi::nvml::Code;
  using Handle = Device;
  static constexpr Vendor vendor = Vendor::nvidia;

  static Code code_of(Refusal refusal);
};

using Entry = EntryPoint<Api>;

// Microseconds since 1970 on the session's clock.
std::int64_t stamp(const Session& session, Instant at);

// Copies a string with its zero byte if the client's buffer is long enough for the whole.
Code give_text(std::string_view text, char* buffer, unsigned length);

template <typename T>
Code give(T* out, T value) {
  *out = value;
  return Code::success;
}

}  // namespace zeus::drivers::nvml

// Marks what the library exports to its clients; everything else is hidden.
#define ZEUS_NVML extern "C" __attribute__((visibility("default")))
