#include "drivers/session/load_text.hpp"

#include <zeus/units.hpp>

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace zeus::drivers {

namespace {

constexpr std::size_t most_rows = 1'000'000;
constexpr Watts most_power{100'000.0};
constexpr Seconds shortest_period{1e-3};
constexpr Seconds longest_period{86'400.0};
constexpr std::string_view load_example =
    "write constant:200W, square:80-300W,200ms, a file.csv of seconds,watts, or follow:WORKLOAD";

Error bad_load(const std::string& what, std::string_view advice = load_example) {
  return {ErrorKind::invalid_argument, what, std::string{advice}};
}

Watts parse_power(std::string_view text) {
  const Watts power = parse_watts(text);
  if (power > most_power) {
    throw bad_load(fmt::format("{} W are more than any GPU draws", power.value()));
  }
  return power;
}

// "80-300W,200ms"; the first power has the unit of the second unless it has its own.
SquareLoad parse_square(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::size_t dash = text.find('-');
  if (comma == std::string_view::npos || dash == std::string_view::npos || dash > comma) {
    throw bad_load(fmt::format("'square:{}' is not a square load", text.substr(0, 64)));
  }
  std::string low{text.substr(0, dash)};
  const std::string_view high = text.substr(dash + 1, comma - dash - 1);
  if (!low.empty() && (low.back() == '.' || (low.back() >= '0' && low.back() <= '9'))) {
    low += high.substr(std::min(high.find_first_of("mkW"), high.size()));
  }
  const SquareLoad load{parse_power(low), parse_power(high), parse_seconds(text.substr(comma + 1))};
  if (load.low > load.high) {
    throw bad_load(fmt::format("'square:{}' begins with the higher power", text.substr(0, 64)),
                   "write the lower one first");
  }
  if (load.period < shortest_period || load.period > longest_period) {
    throw bad_load(fmt::format("'square:{}' has a period outside 1 ms to 24 h", text.substr(0, 64)));
  }
  return load;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white_space = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(white_space), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(white_space) + 1);
}

bool parse_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(number) && number >= 0.0;
}

WorkLoad parse_work(std::string_view text) {
  std::array<double, 3> shares{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::size_t end = i + 1 < shares.size() ? rest.find(',') : rest.size();
    if (end == std::string_view::npos || !parse_number(rest.substr(0, end), shares[i]) || shares[i] > 1.0) {
      throw bad_load(fmt::format("'work:{}' is not three shares of 1", text.substr(0, 64)),
                     "write for example work:0.9,0.8,0.2");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {shares[0], shares[1], shares[2]};
}

physics::TablePoint parse_row(std::string_view line) {
  const std::size_t comma = line.find(',');
  double seconds = 0.0;
  double watts = 0.0;
  if (comma == std::string_view::npos || !parse_number(trimmed(line.substr(0, comma)), seconds) ||
      !parse_number(trimmed(line.substr(comma + 1)), watts)) {
    throw bad_load(fmt::format("'{}' is not seconds,watts", line.substr(0, 64)), "write for example 12.5,200");
  }
  if (Watts{watts} > most_power || seconds > 1e8) {
    throw bad_load(fmt::format("'{}' is more than any GPU draws, or years away", line.substr(0, 64)),
                   "check the order of the columns: seconds first, then watts");
  }
  return {Seconds{seconds}, physics::Demand::of_power(Watts{watts})};
}

void add_row(std::vector<physics::TablePoint>& points, const physics::TablePoint& point) {
  if (!points.empty() && point.after <= points.back().after) {
    throw bad_load("the time does not increase", "sort the rows by time, with no time twice");
  }
  if (points.size() == most_rows) {
    throw bad_load(fmt::format("there are more than {} rows", most_rows), "use a coarser table");
  }
  points.push_back(point);
}

// Two names; a number in it makes it a row, perhaps a misspelt one.
bool is_header(std::string_view line) {
  const std::size_t comma = line.find(',');
  double number = 0.0;
  return comma != std::string_view::npos && !parse_number(trimmed(line.substr(0, comma)), number) &&
         !parse_number(trimmed(line.substr(comma + 1)), number);
}

}  // namespace

LoadText parse_load(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (text == "idle") {
    return IdleLoad{};
  }
  if (kind == "constant" && colon != std::string_view::npos) {
    return ConstantLoad{parse_power(rest)};
  }
  if (kind == "square" && colon != std::string_view::npos) {
    return parse_square(rest);
  }
  if (kind == "work" && colon != std::string_view::npos) {
    return parse_work(rest);
  }
  if (kind == "follow" && colon != std::string_view::npos) {
    if (rest.empty()) {
      throw bad_load("'follow:' names no workload");
    }
    if (constexpr std::string_view work_kind = "work:"; rest.starts_with(work_kind)) {
      WorkLoad work = parse_work(rest.substr(work_kind.size()));
      work.followed = true;
      return work;
    }
    return FollowLoad{std::string{rest}};
  }
  if (text.ends_with(".csv")) {
    return TableLoad{std::string{text}};
  }
  throw bad_load(fmt::format("'{}' is not a load", text.substr(0, 64)));
}

std::vector<physics::TablePoint> parse_power_table(std::string_view content, std::string_view name) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  content.remove_prefix(content.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  std::vector<physics::TablePoint> points;
  bool header_possible = true;
  for (int number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = trimmed(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const bool header = std::exchange(header_possible, false) && is_header(line);
    if (header) {
      continue;
    }
    std::optional<Error> refused;
    try {
      add_row(points, parse_row(line));
    } catch (const Error& error) {
      refused = error;
    }
    if (refused) {
      throw Error{refused->kind(), fmt::format("{}, line {}: {}", name, number, refused->message()), refused->advice()};
    }
  }
  if (points.empty()) {
    throw bad_load(fmt::format("{} has no row of seconds,watts", name), "write for example 12.5,200");
  }
  return points;
}

}  // namespace zeus::drivers
