// Any text as a job file: it is a job or it is refused with a place in it.
#include "run/job_file.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_job_file(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (zeus::run::job_from_toml(text, "f").command->empty()) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument || !error.message().starts_with("f:")) {
      std::abort();
    }
  }
  return 0;
}
