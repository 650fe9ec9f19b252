#include "train/drift_watch.hpp"

namespace zeus::train {

namespace {

constexpr std::uint64_t least_steps = 20;
constexpr Seconds least_time{2};
constexpr int lasting = 3;

}  // namespace

void DriftWatch::expect(std::optional<Seconds> step, Seconds uncertainty) {
  expected_ = step;
  uncertainty_ = uncertainty;
  block_steps_ = 0;
  block_time_ = Seconds{0};
  slower_ = 0;
  faster_ = 0;
}

void DriftWatch::add(std::uint64_t steps, Seconds time) {
  if (!expected_ || tolerance_ <= 0.0) {
    return;
  }
  block_steps_ += steps;
  block_time_ += time;
  if (block_steps_ < least_steps || block_time_ < least_time) {
    return;
  }
  const Seconds step = block_time_ / static_cast<double>(block_steps_);
  latest_ = step / *expected_;
  slower_ = step > (*expected_ + uncertainty_) * (1.0 + tolerance_) ? slower_ + 1 : 0;
  faster_ = step * (1.0 + tolerance_) < *expected_ - uncertainty_ ? faster_ + 1 : 0;
  block_steps_ = 0;
  block_time_ = Seconds{0};
}

std::optional<double> DriftWatch::drift() const {
  return slower_ >= lasting || faster_ >= lasting ? std::optional{latest_} : std::nullopt;
}

}  // namespace zeus::train
