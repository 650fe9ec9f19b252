// What users ask of the latencies of a served model. Pure; any thread.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

enum class Timed { first, between, whole };

constexpr auto names_of(Timed /*timed*/) {
  return std::array<field::Name<Timed>, 3>{{{Timed::first, "ttft"}, {Timed::between, "itl"}, {Timed::whole, "e2el"}}};
}

// So many percent of these times are at most this long.
struct LatencyBound {
  Timed timed = Timed::first;
  Seconds most = {};
  int percent = 95;

  friend bool operator==(const LatencyBound&, const LatencyBound&) = default;
};

// "ttft=0.5s,itl=50ms@99": to the first token, between tokens, of a whole answer (e2el); 50, 90, 95 or 99 %, 95 if it
// is not written. Throws an invalid_argument Error.
std::vector<LatencyBound> read_bounds(std::string_view text);
std::string to_text(const LatencyBound& bound);

}  // namespace zeus::serving
