// Any text is a query of these parameters, within their bounds, or is refused with a bounded text; nothing is thrown.
// Encoded text decodes to itself.

#include "protocol/query.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int fuzz_query(const std::uint8_t* data, std::size_t size) {
  namespace protocol = zeus::protocol;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  protocol::Ids gpus;
  std::optional<bool> block;
  std::optional<std::uint32_t> limit;
  std::optional<std::uint64_t> number;
  std::optional<zeus::Seconds> wait;
  std::optional<std::string> name;
  const auto error = protocol::read_query(text, {{"gpu_ids", gpus},
                                                 {"block", block},
                                                 {"power_limit_mw", limit},
                                                 {"number", number},
                                                 {"wait_s", wait},
                                                 {"name", name}});
  if (error) {
    if (error->text.empty() || error->text.size() > 1000 || refusal(*error).body.size() > 8000) {
      std::abort();
    }
  } else if (gpus.numbers.empty() || !std::ranges::is_sorted(gpus.numbers) ||
             std::ranges::adjacent_find(gpus.numbers) != gpus.numbers.end() ||
             (wait && !(std::isfinite(wait->value()) && *wait >= zeus::Seconds{0.0}))) {
    std::abort();
  }
  if (protocol::percent_decoded(protocol::percent_encoded(text)) != text) {
    std::abort();
  }
  return 0;
}
