// Any bytes are a stream of events, or have an event that is too long. However they are cut into pieces, the events are
// the same; and an event that is written is read again.

#include "protocol/event_stream.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t most_event_bytes = 256;

// The events; nothing if one of them is too long.
std::optional<std::vector<std::string>> events_of(std::string_view stream, std::size_t piece) {
  zeus::protocol::EventReader reader{most_event_bytes};
  std::vector<std::string> events;
  try {
    while (!stream.empty()) {
      const std::size_t length = std::min(piece, stream.size());
      reader.read(stream.substr(0, length), [&](std::string_view data) { events.emplace_back(data); });
      stream.remove_prefix(length);
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
    return std::nullopt;
  }
  return events;
}

}  // namespace

extern "C" int fuzz_event_stream(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view stream{reinterpret_cast<const char*>(data + 1), size - 1};
  const auto whole = events_of(stream, size);
  if (events_of(stream, std::size_t{data[0]} % 7 + 1) != whole) {
    std::abort();
  }
  for (const std::string& event : whole.value_or(std::vector<std::string>{})) {
    const auto again = events_of(zeus::protocol::event_text(event), size);
    if (event.size() + 1 <= most_event_bytes / 2 && (!again || *again != std::vector{event})) {
      std::abort();
    }
  }
  return 0;
}
