// Any text either is a profile, which survives being written and read again, or is refused with a corrupt_data Error.

#include "trace/instruction_profile.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_instruction_profile(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const auto profile = zeus::trace::parse_instruction_profile("fuzz.csv", text);
    if (zeus::trace::parse_instruction_profile("again.csv", zeus::trace::to_csv(profile)) != profile) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
