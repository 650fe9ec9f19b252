// Any text either is a power profile, which survives being written and read again and merges with itself, or is refused
// with a corrupt_data Error.

#include "records/power_profile.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_power_profile(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::records::PowerProfile profile = zeus::records::power_profile_from_json(text);
    if (zeus::records::power_profile_from_json(zeus::records::to_json(profile)) != profile) {
      std::abort();
    }
    if (zeus::records::merge(profile, profile).measurements.size() != profile.measurements.size()) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
