// The JSON columns of a store of jobs; the first byte selects one. Text that no zeus::Error refuses is written back so
// that it reads the same.

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string rewritten_definition(std::string_view text) {
  return zeus::records::to_json(zeus::records::job_definition_from_json(text));
}

std::string rewritten_body(std::string_view text) {
  return zeus::records::to_json(zeus::records::job_entry_body_from_json(text));
}

}  // namespace

extern "C" int fuzz_job_columns(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto read = data[0] == 'd' ? rewritten_definition : rewritten_body;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::string written;
  try {
    written = read(text);
  } catch (const zeus::Error&) {
    return 0;
  }
  if (read(written) != written) {
    std::abort();
  }
  return 0;
}
