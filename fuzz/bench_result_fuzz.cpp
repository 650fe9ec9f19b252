// Any bytes are a result of `zeus llm bench`, or refused; a result that is written is read again as the same one.

#include "fuzz/require.hpp"
#include "serving/bench_result.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int fuzz_bench_result(const std::uint8_t* data, std::size_t size) {
  std::string written;
  try {
    written = to_json(zeus::serving::bench_result_from_json({reinterpret_cast<const char*>(data), size}));
  } catch (const zeus::Error& error) {
    zeus::fuzz::require(error.kind() == zeus::ErrorKind::corrupt_data);
    return 0;
  }
  zeus::fuzz::require(to_json(zeus::serving::bench_result_from_json(written)) == written);
  return 0;
}
