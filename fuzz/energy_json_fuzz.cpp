// Any text either is an energy, which survives being written and read again, or is refused with a corrupt_data Error.

#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_energy_json(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::records::Energy energy = zeus::records::energy_from_json(text);
    if (zeus::records::energy_from_json(zeus::records::to_json(energy)) != energy) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
