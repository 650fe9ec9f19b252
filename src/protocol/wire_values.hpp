// How values are written in the bodies of zeusd: whole numbers of a small unit, and objects whose keys are device
// numbers. Plain values; any thread.
#pragma once

#include "base/clock.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/units.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace zeus::protocol {

// A quantity from zero up, as a whole number of its `Parts`-th part: 150 W is 150000 as WholeMilliwatts.
template <typename Quantity, std::uint64_t Parts>
class Whole {
 public:
  Whole() = default;
  // Rounded to the nearest part. Below zero or not a number becomes zero; too large becomes the largest.
  Whole(Quantity amount) {  // NOLINT(google-explicit-constructor): the same value, but for rounding
    constexpr double beyond = 18446744073709551616.0;
    const double parts = std::round(amount.value() * static_cast<double>(Parts));
    if (parts > 0.0) {
      parts_ = parts < beyond ? static_cast<std::uint64_t>(parts) : std::numeric_limits<std::uint64_t>::max();
    }
  }
  static Whole of_parts(std::uint64_t parts) {
    Whole whole;
    whole.parts_ = parts;
    return whole;
  }

  [[nodiscard]] Quantity amount() const { return Quantity{static_cast<double>(parts_) / static_cast<double>(Parts)}; }
  [[nodiscard]] std::uint64_t parts() const { return parts_; }

  friend void write_json(records::JsonWriter& json, const Whole& whole) { json.value(whole.parts_); }
  friend void read_json(const records::JsonValue& json, const records::JsonPlace& place, Whole& whole) {
    records::read_value(json, place, whole.parts_);
  }
  friend bool operator==(const Whole&, const Whole&) = default;

 private:
  std::uint64_t parts_ = 0;
};

using WholeMilliwatts = Whole<Watts, 1000>;
using WholeMillijoules = Whole<Joules, 1000>;
using WholeMicrojoules = Whole<Joules, 1'000'000>;

// A timestamp: whole milliseconds since the epoch.
inline std::uint64_t milliseconds_of(WallTime time) {
  return static_cast<std::uint64_t>(time.microseconds_since_epoch / 1000);
}

// {"0":..,"1":..,"10":..}
template <typename Value>
struct ByNumber {
  std::map<std::uint32_t, Value> of = {};

  friend void write_json(records::JsonWriter& json, const ByNumber& all) {
    json.object([&] {
      for (const auto& [number, value] : all.of) {
        json.put(std::to_string(number), value);
      }
    });
  }
  friend void read_json(const records::JsonValue& json, const records::JsonPlace& place, ByNumber& all) {
    all.of.clear();
    for (const records::JsonValue::Member& member : records::read_object(json, place)) {
      std::uint32_t number = 0;
      const char* const end = member.key.data() + member.key.size();
      const auto [rest, error] = std::from_chars(member.key.data(), end, number);
      if (error != std::errc{} || rest != end) {
        place.at(member.key).refuse("named by a number");
      }
      records::read_value(member.value, place.at(member.key), all.of[number]);
    }
  }
  friend bool operator==(const ByNumber&, const ByNumber&) = default;
};

// Reads an answer of zeusd with status 200, or an event of its streams. Fields that a newer zeusd adds are ignored. For
// a missing field, or one of another type, throws a corrupt_data Error that says where.
template <typename Answer>
Answer read_answer(std::string_view json) {
  return records::record_from_json<Answer>(json, {.refusal = "this is not an answer of zeusd",
                                                  .advice = "check that it is as new as this program",
                                                  .newer = true});
}

}  // namespace zeus::protocol
