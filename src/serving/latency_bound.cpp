#include "serving/latency_bound.hpp"

#include "base/amount_text.hpp"
#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace zeus::serving {

namespace {

constexpr std::array<int, 4> known_percents{50, 90, 95, 99};

[[noreturn]] void refuse_bound(std::string_view text) {
  throw Error{ErrorKind::invalid_argument, fmt::format("{} is not a bound of latency", in_quotes(text)),
              "write as in ttft=0.5s,itl=50ms@99: ttft, itl or e2el, a time, and @50, @90, @95 or @99"};
}

LatencyBound bound_in(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    refuse_bound(text);
  }
  const auto timed = field::named<Timed>(text.substr(0, equals));
  std::string_view time = text.substr(equals + 1);
  LatencyBound bound;
  if (const std::size_t at = time.find('@'); at != std::string_view::npos) {
    const std::string_view percent = time.substr(at + 1);
    const auto [end, error] = std::from_chars(percent.data(), percent.data() + percent.size(), bound.percent);
    if (error != std::errc{} || end != percent.data() + percent.size()) {
      refuse_bound(text);
    }
    time = time.substr(0, at);
  }
  if (!timed || std::ranges::find(known_percents, bound.percent) == known_percents.end()) {
    refuse_bound(text);
  }
  bound.timed = *timed;
  bound.most = parse_seconds(time);
  if (bound.most <= Seconds{0}) {
    refuse_bound(text);
  }
  return bound;
}

}  // namespace

std::vector<LatencyBound> read_bounds(std::string_view text) {
  std::vector<LatencyBound> bounds;
  while (true) {
    const std::size_t comma = text.find(',');
    bounds.push_back(bound_in(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return bounds;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(const LatencyBound& bound) {
  return fmt::format("{}={}@{}", field::name_of(bound.timed), zeus::to_text(bound.most), bound.percent);
}

}  // namespace zeus::serving
