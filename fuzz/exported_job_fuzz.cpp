// Any text as an exported job: it is refused by a zeus::Error, or it is a possible job and is written back so that it
// reads the same.

#include "jobs/transfer.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int fuzz_exported_job(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::string written;
  try {
    written = zeus::jobs::export_text(zeus::jobs::exported_job_from(text));
  } catch (const zeus::Error&) {
    return 0;
  }
  if (zeus::jobs::export_text(zeus::jobs::exported_job_from(written)) != written) {
    std::abort();
  }
  return 0;
}
