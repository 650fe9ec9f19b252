#include "trial/step_series.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace zeus::trial {

namespace {

// The steps of evaluation that are seen fill most of the time between two steps of training.
constexpr double fills_most = 0.5;

}  // namespace

std::optional<StepsDone> StepSeries::take(const StepsDone& steps, Instant now) {
  if (steps.reported && !is_reported_) {
    // What was printed until now may have been anything.
    const bool begins = training_.has_value();
    *this = {};
    is_reported_ = true;
    StepsDone own = steps;
    own.begins = own.begins || begins;
    return take(own, now);
  }
  const bool first = !training_;
  training_ = training_.value_or(steps.series);
  if (!steps.timed) {
    return steps.series == *training_ ? std::optional{steps} : std::nullopt;
  }
  times_.resize(std::max(times_.size(), std::size_t{std::max(steps.series, *training_)} + 1));
  const Seconds taken = !first && last_ == steps.series ? now - last_at_ : Seconds{};
  times_[steps.series] += taken;
  last_ = steps.series;
  last_at_ = now;
  StepsDone own = steps;
  if (times_[steps.series] > times_[*training_]) {
    training_ = steps.series;
    own.begins = true;
  }
  if (steps.series != *training_) {
    beside_ += taken;
    return std::nullopt;
  }
  own.begins = own.begins || beside_ > (now - trained_at_) * fills_most;
  beside_ = {};
  trained_at_ = now;
  return own;
}

}  // namespace zeus::trial
