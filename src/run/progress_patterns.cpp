#include "run/progress_patterns.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

namespace zeus::run {

namespace {

constexpr std::size_t shown_at_most = 60;
constexpr std::size_t most_groups = 16;
// Epochs of one training may differ in their steps by this part.
constexpr double as_many = 0.7;
constexpr std::size_t most_counts = 8;
// A number that falls below this part of the one before begins the count again. Ranks that print the same steps in
// turn only fall behind one another, by a few numbers of an even distance or a few steps.
constexpr double begins_again = 0.5;
constexpr double numbers_behind = 2.0;
constexpr double steps_behind = 2.0;
// By so many numbers it is known how a count goes on: it does not jump to its end.
constexpr std::uint64_t several_numbers = 5;

std::unique_ptr<re2::RE2> compile(const char* flag, const std::string& text, bool needs_group) {
  if (text.empty()) {
    return nullptr;
  }
  re2::RE2::Options options{re2::RE2::Latin1};
  options.set_log_errors(false);
  auto expression = std::make_unique<re2::RE2>(text, options);
  if (!expression->ok()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'{} {}' is not a regular expression: {}", flag, text, expression->error()),
                "the syntax is that of RE2: Perl's, without back-references and look-around"};
  }
  if (needs_group && expression->NumberOfCapturingGroups() == 0) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'{} {}' does not say where the number is", flag, text),
                "put it into round brackets, as in 'accuracy: ([-+.0-9e]+)'"};
  }
  return expression;
}

// Whether the line matches. `group` becomes the match of the first group that took part; empty if there is none.
bool match(const re2::RE2& expression, std::string_view line, std::string_view& group) {
  std::array<re2::StringPiece, most_groups> found;
  const int groups = std::min(expression.NumberOfCapturingGroups(), static_cast<int>(most_groups) - 1);
  const re2::StringPiece text{line.data(), line.size()};
  if (!expression.Match(text, 0, text.size(), re2::RE2::UNANCHORED, found.data(), groups + 1)) {
    return false;
  }
  const auto* const taken = std::find_if(found.begin() + 1, found.begin() + groups + 1,
                                         [](const re2::StringPiece& one) { return one.data() != nullptr; });
  group = taken == found.begin() + groups + 1 ? std::string_view{} : std::string_view{taken->data(), taken->size()};
  return true;
}

// Whether the number before these characters is an amount: 0.5, 14 ms, 80 %.
bool continues_as_amount(std::string_view rest) {
  if (rest.size() > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9') {
    return true;
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('%')) {
    return true;
  }
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; };
  const std::string_view word =
      rest.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_letter) - rest.begin()));
  constexpr std::array<std::string_view, 11> units{"s",   "ms",   "us",      "\xc2\xb5s", "\xce\xbcs", "ns",
                                                   "sec", "secs", "seconds", "min",       "h"};
  return std::ranges::find(units, word) != units.end();
}

// The characters of the line after the group.
std::string_view rest_of(std::string_view line, std::string_view group) {
  return line.substr(static_cast<std::size_t>(group.data() + group.size() - line.data()));
}

// The 40 of "3/40"; 0 if the number stands alone.
double total_after(std::string_view rest) {
  double total = 0.0;
  if (rest.starts_with('/')) {
    std::from_chars(rest.data() + 1, rest.data() + rest.size(), total);
  }
  return std::isfinite(total) ? std::max(total, 0.0) : 0.0;
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional{number} : std::nullopt;
}

}  // namespace

ProgressPatterns::ProgressPatterns(const PatternTexts& texts)
    : metric_{compile("--metric-regex", texts.metric, true)},
      epoch_{compile("--epoch-regex", texts.epoch, false)},
      step_{compile("--step-regex", texts.step, false)},
      counts_alone_{texts.counts_alone} {
}

ProgressPatterns::ProgressPatterns(ProgressPatterns&&) noexcept = default;
ProgressPatterns& ProgressPatterns::operator=(ProgressPatterns&&) noexcept = default;
ProgressPatterns::~ProgressPatterns() = default;

std::uint64_t ProgressPatterns::Count::advance(double number, double again) {
  if (!std::isfinite(number)) {
    return 0;
  }
  const double former = std::exchange(last, number).value_or(number - 1);
  const double way = number < former ? again : number - former;
  return static_cast<std::uint64_t>(std::min(std::max(way, 0.0), static_cast<double>(trial::most_progress_at_once)));
}

bool ProgressPatterns::StepCount::is_behind(double number) const {
  if (!count_.last) {
    return false;
  }
  const double last = *count_.last;
  const double most = even_ ? numbers_behind * distance_ : steps_behind;
  if (number < last) {
    const bool just_begun = ended_ && numbers_ < several_numbers;
    return last - number <= most && (just_begun || (number > first_ && number >= begins_again * last));
  }
  // It has not ended the count before.
  return ended_ && last < begins_again * number && number <= *ended_ && *ended_ - number <= most;
}

ProgressPatterns::StepCount::Steps ProgressPatterns::StepCount::advance(double number, bool redrawn) {
  if (is_behind(number)) {
    return {};
  }
  const std::optional<double> former = count_.last;
  const bool none = redrawn && number == 0.0;
  const std::uint64_t way = count_.advance(number, even_ ? distance_ : number);
  begins_ = begins_ || (former && number < begins_again * *former);
  if (former && number < *former) {
    ended_ = numbers_ >= several_numbers ? former : std::nullopt;
    numbers_ = 0;
  }
  first_ = numbers_ == 0 ? number : first_;
  numbers_ += !former || number != *former ? 1 : 0;
  if (!former || !(number > *former)) {
    begun_ = begun_ || (none && !former);
    if (former && number < *former && !even_) {
      distance_ = 0.0;
    }
    return none || way == 0 ? Steps{} : Steps{.now = way, .begins = std::exchange(begins_, false)};
  }
  const bool begins = std::exchange(begins_, false);
  even_ = number - *former == distance_;
  distance_ = number - *former;
  if (!even_ || std::exchange(begun_, true)) {
    return {.now = way, .begins = begins};
  }
  // The very first number counted as one.
  return {.now = way, .earlier = way - std::min<std::uint64_t>(way, 1), .begins = begins};
}

std::size_t ProgressPatterns::series_of(double total) {
  const auto found = std::ranges::find_if(steps_, [total](const Series& series) {
    return std::min(series.total, total) >= as_many * std::max(series.total, total);
  });
  if (found != steps_.end()) {
    return static_cast<std::size_t>(found - steps_.begin());
  }
  if (steps_.size() < most_counts) {
    steps_.push_back({.total = total, .count = {}});
  }
  return steps_.size() - 1;
}

void ProgressPatterns::add_steps(std::string_view line, std::string_view group, bool redrawn,
                                 std::vector<trial::Progress>& progress) {
  const std::optional<double> number = number_in(group);
  const double total = number ? total_after(rest_of(line, group)) : 0.0;
  const std::size_t series = series_of(total);
  const StepCount::Steps steps = number ? steps_[series].count.advance(*number, redrawn) : StepCount::Steps{.now = 1};
  const auto which = static_cast<std::uint32_t>(series);
  if (steps.earlier > 0) {
    progress.emplace_back(trial::StepsDone{.count = steps.earlier, .timed = false, .series = which});
  }
  if (steps.now > 0) {
    const bool ends = total > 0.0 && *number >= total;
    progress.emplace_back(trial::StepsDone{.count = steps.now, .begins = steps.begins, .ends = ends, .series = which});
  }
}

bool ProgressPatterns::is_step(std::string_view line, std::string_view group) const {
  return !counts_alone_ || group.empty() || !continues_as_amount(rest_of(line, group));
}

void ProgressPatterns::read_metric(std::string_view line, std::vector<trial::Progress>& progress) {
  std::string_view group;
  if (metric_ == nullptr || !match(*metric_, line, group)) {
    return;
  }
  const std::optional<double> value = number_in(group);
  if (!value) {
    if (matches_.not_a_number.empty()) {
      matches_.not_a_number = std::string{group.substr(0, shown_at_most)};
    }
    return;
  }
  ++matches_.metric;
  progress.emplace_back(trial::MetricSeen{*value});
  if (epoch_ == nullptr) {
    progress.emplace_back(trial::EpochsDone{1});
  }
}

std::vector<trial::Progress> ProgressPatterns::read_redrawn(std::string_view line) {
  std::vector<trial::Progress> progress;
  std::string_view group;
  if (step_ != nullptr && match(*step_, line, group) && group.data() + group.size() != line.data() + line.size() &&
      number_in(group) && is_step(line, group)) {
    add_steps(line, group, true, progress);
  }
  return progress;
}

std::vector<trial::Progress> ProgressPatterns::read(std::string_view line) {
  std::vector<trial::Progress> progress;
  std::string_view group;
  ++matches_.lines;
  if (step_ != nullptr && match(*step_, line, group) && is_step(line, group)) {
    ++matches_.step;
    add_steps(line, group, false, progress);
  }
  read_metric(line, progress);
  if (epoch_ != nullptr && match(*epoch_, line, group)) {
    ++matches_.epoch;
    const std::optional<double> number = number_in(group);
    if (const std::uint64_t count = number ? epochs_.advance(*number, 1.0) : 1; count > 0) {
      progress.emplace_back(trial::EpochsDone{count});
    }
  }
  return progress;
}

}  // namespace zeus::run
