// The file of power profiles. Whatever it contains, reading it ends in profiles or in a corrupt_data Error, and
// profiles that were read are written and read back unchanged.

#include "train/profile_file.hpp"

#include <zeus/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_train_profiles(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const std::vector<zeus::PowerProfile> profiles = zeus::train::profiles_from_json(text);
    if (zeus::train::profiles_from_json(zeus::train::to_json(profiles)) != profiles) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
