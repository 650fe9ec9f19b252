// Any text is the record of a lease, which survives being written and read again, or is refused with a corrupt_data
// Error: anything in between might be set on a GPU.

#include "control/lease_record.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_lease_record(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::control::LeaseRecord record = zeus::control::lease_record_from_json(text);
    if (zeus::control::lease_record_from_json(to_json(record)) != record) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
