#include "trial/step_series.hpp"

#include "trial/limit_slices.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace zeus::trial {

namespace {

// The steps of evaluation that are seen fill most of the time between two steps of training, or take longer than a
// step.
constexpr double fills_most = 0.5;
// Counts that show the same steps take almost the same time.
constexpr double surely_more = 1.25;
// A bar that has come to its end before the other was first seen was a preparation, or it is that of a training that is
// evaluated for the first time. That is seldom this long.
constexpr double part_once_over = 0.25;
// A limit may make steps take twice as long, and they scatter.
constexpr double longer_than_any = 3.0;
constexpr std::size_t enough_to_compare = 4;
constexpr Seconds shortest_pause{0.1};

}  // namespace

std::optional<StepsDone> StepSeries::take(const StepsDone& steps, Instant now) {
  StepsDone own = steps;
  if (steps.reported && !is_reported_) {
    // What was printed until now may have been anything.
    own.changed = training_.has_value();
    own.begins = own.begins || own.changed;
    *this = {};
    is_reported_ = true;
  }
  training_ = training_.value_or(steps.series);
  counts_.resize(std::max(counts_.size(), std::size_t{std::max(steps.series, *training_)} + 1));
  Count& count = counts_[steps.series];
  count.left_out += steps.count;
  if (steps.timed) {
    const bool apart = add(count, steps, now);
    const bool paused = count.intervals.add(now, steps.begins || apart);
    if (is_rather_training(count)) {
      training_ = steps.series;
      own.changed = true;
    }
    own.begins = own.begins || apart || paused || own.changed;
  }
  if (steps.series != *training_) {
    return std::nullopt;
  }
  own.count = std::exchange(count.left_out, 0);
  return own;
}

bool StepSeries::add(Count& count, const StepsDone& steps, Instant now) {
  for (std::size_t other = 0; last_ && other < counts_.size(); ++other) {
    if (other != steps.series && other != *last_) {
      counts_[other].beside += now - last_at_;
    }
  }
  last_ = steps.series;
  last_at_ = now;
  const Seconds gap = count.last ? now - *count.last : Seconds{};
  const Seconds beside = std::exchange(count.beside, Seconds{});
  const bool apart = count.last && (beside > gap * fills_most ||
                                    (count.gaps > 0 && beside > count.time / static_cast<double>(count.gaps)));
  if (count.last && !apart) {
    count.time += gap;
    ++count.gaps;
  }
  count.first = count.first.value_or(now);
  count.last = now;
  count.over = steps.ends ? std::optional{now} : std::nullopt;
  return apart;
}

bool StepSeries::Intervals::add(Instant now, bool begins) {
  if (last_ && now - *last_ < shortest_event) {
    return false;
  }
  const Instant before = std::exchange(last_, now).value_or(now);
  if (begins || before == now) {
    return false;
  }
  const Seconds interval = now - before;
  const std::span<const Seconds> of_late = std::span{latest_}.first(std::min(known_, most));
  const bool pause = of_late.size() >= enough_to_compare && interval >= shortest_pause &&
                     interval > *std::ranges::max_element(of_late) * longer_than_any;
  latest_[known_++ % most] = interval;
  return pause;
}

bool StepSeries::is_rather_training(const Count& other) const {
  const Count& training = counts_[*training_];
  const bool is_preparation = training.over && *other.first > *training.over;
  return other.time > training.time * (is_preparation ? part_once_over : surely_more);
}

}  // namespace zeus::trial
