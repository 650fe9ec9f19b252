// Civil time in JSON: "2026-11-21T18:00:00Z", to the second. For describing records; pure functions, any thread.
#pragma once

#include "base/clock.hpp"
#include "base/wall_time_text.hpp"
#include "records/json_reader.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"

namespace zeus {

inline void write_json(records::JsonWriter& json, WallTime time) {
  json.value(to_text(time));
}

inline void read_json(const records::JsonValue& json, const records::JsonPlace& place, WallTime& time) {
  const std::optional<WallTime> known = wall_time_from_text(records::read_string(json, place));
  if (!known) {
    place.refuse("a UTC time such as 2026-11-21T18:00:00Z");
  }
  time = *known;
}

inline records::JsonSchema json_schema_of(const WallTime* /*type*/) {
  return {.kind = records::JsonSchema::Kind::string};
}

}  // namespace zeus
