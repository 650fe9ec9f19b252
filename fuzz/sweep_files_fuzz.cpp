// Any text as a sweep's queue, hosts, and what a host sends: it is read, or refused with a place in it; what is read is
// written so that it is read back the same; and no output of a run is lost between messages.
#include "fuzz/require.hpp"
#include "sweep/host_file.hpp"
#include "sweep/host_protocol.hpp"
#include "sweep/queue_entry.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using zeus::fuzz::require;

namespace {

void read_queue(const std::string& text) {
  try {
    for (const zeus::sweep::QueueEntry& entry : zeus::sweep::parse_queue("q", text)) {
      const std::vector<zeus::sweep::QueueEntry> again = zeus::sweep::parse_queue("q", to_yaml(entry));
      require(again.size() == 1 && again.front() == entry);
    }
  } catch (const zeus::Error& error) {
    require(error.kind() == zeus::ErrorKind::corrupt_data && error.message().starts_with("q"));
  }
}

void read_hosts(const std::string& text) {
  try {
    require(!zeus::sweep::parse_hosts("h", text).empty());
  } catch (const zeus::Error& error) {
    require(error.kind() == zeus::ErrorKind::corrupt_data && error.message().starts_with("h"));
  }
}

void split(std::string_view text) {
  zeus::sweep::MessageSplitter splitter{"k"};
  std::size_t heard = 0;
  const auto hear = [&](std::string_view bytes) { heard += bytes.size(); };
  const std::size_t half = text.size() / 2;
  splitter.take(text.substr(0, half), hear);
  splitter.take(text.substr(half), hear);
  splitter.finish(hear);
  require(splitter.messages().empty() ? heard == text.size() : heard < text.size());
}

}  // namespace

extern "C" int fuzz_sweep_files(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_queue(text);
  read_hosts(text);
  split(text);
  return 0;
}
