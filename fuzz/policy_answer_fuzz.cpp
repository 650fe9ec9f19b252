// Any line of a policy program is an answer within its bounds, or is refused with a corrupt_data Error that begins as
// the caller wants.

#include "research/policy_program.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int fuzz_policy_answer(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const zeus::research::PolicyAnswer answer = zeus::research::parse_policy_answer(text, "line 1");
    if (answer.batch_size < 1 || answer.max_epochs.value_or(1) < 1 || answer.measure.size() > 4096) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data || !std::string_view{error.what()}.starts_with("line 1")) {
      std::abort();
    }
  }
  return 0;
}
