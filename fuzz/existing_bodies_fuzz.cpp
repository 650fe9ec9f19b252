// Any text is a body (or a query) of the existing package's clients, or has errors that are named; nothing is thrown.
// An accepted spec is a job or is refused as one. It reads back as written, and is then the same job.

#include "server/existing_bodies.hpp"
#include "server/existing_spec.hpp"

#include "fuzz/require.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

namespace server = zeus::server;
using zeus::fuzz::require;
using zeus::records::JsonValue;

template <typename Body>
const Body* accepted(const server::ExistingRead<Body>& read) {
  if (const auto* const faults = std::get_if<server::ExistingFaults>(&read)) {
    require(!faults->empty() && JsonValue::parse(to_json(*faults)).has_value());
  }
  return std::get_if<Body>(&read);
}

template <typename Body>
void reads_back(const Body& body) {
  const auto again = server::read_existing<Body>(zeus::records::json_line(body));
  const Body* const same = accepted(again);
  require(same != nullptr && *same == body);
}

}  // namespace

extern "C" int fuzz_existing_bodies(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto trial = server::read_existing<server::ExistingTrial>(text);
  if (const auto* const body = accepted(trial)) {
    reads_back(*body);
  }
  const auto result = server::read_existing<server::ExistingResult>(text);
  if (const auto* const body = accepted(result)) {
    reads_back(*body);
  }
  const auto job = server::read_existing_job(text);
  static_cast<void>(accepted(job));
  const auto spec = server::read_existing<server::ExistingSpec>(text);
  if (const auto* const body = accepted(spec)) {
    reads_back(*body);
    try {
      const auto definition = server::definition_of(*body, body->job_id.value_or("job"));
      require(server::existing_differences(definition, definition).empty());
    } catch (const zeus::Error& error) {
      require(error.kind() == zeus::ErrorKind::invalid_argument);
    }
  }
  return 0;
}
