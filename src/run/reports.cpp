#include "run/reports.hpp"

#include <charconv>

namespace zeus::run {

namespace {

template <typename T>
std::optional<T> number_of(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional{number} : std::nullopt;
}

template <typename Done>
std::optional<trial::Progress> progress_of(std::string_view count) {
  if (count.empty()) {
    return Done{1};
  }
  const auto number = number_of<std::uint64_t>(count);
  return number && *number > 0 && *number <= trial::most_progress_at_once
             ? std::optional<trial::Progress>{Done{*number}}
             : std::nullopt;
}

}  // namespace

std::optional<trial::Progress> parse_report(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
  if (space != std::string_view::npos && rest.empty()) {
    return std::nullopt;
  }
  if (word == "step") {
    return progress_of<trial::StepsDone>(rest);
  }
  if (word == "epoch") {
    return progress_of<trial::EpochsDone>(rest);
  }
  if (word == "metric") {
    const auto value = number_of<double>(rest);
    return value ? std::optional<trial::Progress>{trial::MetricSeen{*value}} : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace zeus::run
