#include "serving/steady_window.hpp"

#include "base/amount_text.hpp"
#include "base/student_quantile.hpp"
#include "jobs/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace zeus::serving {

namespace {

constexpr std::size_t fewest_slices = 20;
constexpr Seconds least_time{5};  // that of so many slices
constexpr std::size_t compared_parts = 10;
constexpr double answers_in_window = 2.0;  // how long it lasts at least, in times of an answer

// From the end of the last answer whose request was sent before any whole one had ended, until the last request was
// sent. A server that refuses a request at once has not answered one yet.
struct Bounds {
  Instant begin;
  Instant end;
  Seconds mean_time;
};

std::optional<Bounds> bounds_of(std::span<const Answer> answers) {
  if (answers.empty()) {
    return std::nullopt;
  }
  const auto end_of = [](const Answer& answer) { return std::pair{!answer.is_whole(), answer.ended}; };
  const Instant first_end = std::ranges::min(answers, {}, end_of).ended;
  Bounds bounds{.begin = first_end, .end = {}, .mean_time = {}};
  for (const Answer& answer : answers) {
    bounds.end = std::max(bounds.end, answer.sent);
    bounds.mean_time += (answer.ended - answer.sent) / static_cast<double>(answers.size());
    if (answer.sent < first_end) {
      bounds.begin = std::max(bounds.begin, answer.ended);
    }
  }
  return bounds;
}

using Rate = std::function<double(const Tally&)>;

// What a quantity is in the parts of a window, as a mean over time.
std::vector<double> parts_of(std::span<const Tally> tallies, const SteadyWindow& window, const Rate& amount) {
  std::vector<double> parts;
  for (const Batch& batch : batches_of(window, compared_parts)) {
    Seconds time;
    double sum = 0;
    for (const Tally& tally : tallies.subspan(batch.first, batch.count)) {
      time += tally.time;
      sum += amount(tally);
    }
    parts.push_back(time > Seconds{0} ? sum / time.value() : 0.0);
  }
  return parts;
}

// How a quantity differs between the beginning of a window and what follows.
struct Change {
  std::string_view beginning;  // which part
  double before = 0;
  double after = 0;
  bool is_real = false;
};

// Whether the first `head` parts differ from the others by more than chance, and than the share of the mean that never
// counts. Scatter that both have in common is chance; of a single part, that of the others.
Change change_after(std::size_t head, std::span<const double> parts, double tolerated) {
  jobs::Scatter first;
  jobs::Scatter others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    (i < head ? first : others).add(parts[i]);
  }
  const int freedom = first.count + others.count - 2;
  const double variance = (first.squares + others.squares) / freedom;
  const double by_chance = student_quantile(freedom) * std::sqrt(variance * (1.0 / first.count + 1.0 / others.count));
  const double mean = (first.mean + others.mean) / 2;
  return {.beginning = head == 1 ? "tenth" : "half",
          .before = first.mean,
          .after = others.mean,
          .is_real = std::abs(others.mean - first.mean) > std::max(tolerated * std::abs(mean), by_chance)};
}

// What still changes in the window; empty if nothing does.
std::string trend_in(std::span<const Tally> tallies, const SteadyWindow& window) {
  struct Watched {
    std::string_view what;
    Rate amount;
    double tolerated;
  };
  const bool has_energy = std::ranges::all_of(tallies.subspan(window.first, window.count),
                                              [](const Tally& tally) { return tally.energy.has_value(); });
  const std::array<Watched, 3> all{
      Watched{"pieces of text a second", [](const Tally& tally) { return tally.pieces; }, 0.02},
      Watched{"requests in flight", [](const Tally& tally) { return tally.in_flight * tally.time.value(); }, 0.1},
      Watched{"watts", [](const Tally& tally) { return tally.energy.value_or(Joules{0}).value(); }, 0.02}};
  for (const Watched& one : std::span{all}.first(has_energy ? 3 : 2)) {
    const std::vector<double> parts = parts_of(tallies, window, one.amount);
    for (const std::size_t head : {parts.size() / 2, std::size_t{1}}) {
      const Change change = change_after(head, parts, one.tolerated);
      if (change.is_real) {
        return fmt::format("{:.4g} {} in the first {} of the window and {:.4g} after it", change.before, one.what,
                           change.beginning, change.after);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<Batch> batches_of(const SteadyWindow& window, std::size_t most) {
  const std::size_t count = std::clamp<std::size_t>(window.count, 1, most);
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = window.count * i / count;
    const std::size_t to = window.count * (i + 1) / count;
    batches.push_back({.first = window.first + from, .count = to - from});
  }
  return batches;
}

SteadyWindow steady_window(std::span<const Slice> slices, std::span<const Tally> tallies,
                           std::span<const Answer> answers) {
  SteadyWindow window;
  const auto bounds = bounds_of(answers);
  if (!bounds) {
    window.why_not = "no request was sent";
    return window;
  }
  const auto first = std::ranges::lower_bound(slices, bounds->begin, {}, &Slice::begin);
  const auto last = std::ranges::upper_bound(slices, bounds->end, {}, &Slice::end);
  window.first = static_cast<std::size_t>(first - slices.begin());
  window.count = last > first ? static_cast<std::size_t>(last - first) : 0;
  const std::size_t all = window.count;
  std::string trend;
  while (window.count >= std::max(fewest_slices, all / 2)) {
    const Seconds time = slices[window.first + window.count - 1].end - slices[window.first].begin;
    if (time < bounds->mean_time * answers_in_window) {
      break;
    }
    trend = trend_in(tallies, window);
    if (trend.empty()) {
      return window;
    }
    const std::size_t dropped = std::max<std::size_t>(all / 10, 1);
    window.first += dropped;
    window.count -= dropped;
  }
  if (trend.empty()) {
    const Seconds time = all > 0 ? slices[window.first + all - 1].end - slices[window.first].begin : Seconds{0};
    window.why_not = fmt::format(
        "the run is too short: from the end of the first answers to the last request it has {}, and {} are needed; "
        "send more requests (--requests)",
        to_text(time), to_text(std::max(least_time, bounds->mean_time * answers_in_window)));
  } else {
    window.why_not = fmt::format("the run never became steady: {}; send more requests, or fewer at once", trend);
  }
  return window;
}

}  // namespace zeus::serving
