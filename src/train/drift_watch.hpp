// Notices that steps have come to take longer, or shorter, than the profile says of the setting in force: blocks of
// steps are compared with it, and only what lasts is believed. Pure: told of times; one owner, one thread.
#pragma once

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::train {

class DriftWatch {
 public:
  // A `tolerance` of 0 never notices anything.
  explicit DriftWatch(double tolerance) : tolerance_{tolerance} {}

  // What a step should take from now on, where that is known; forgets what was seen before.
  void expect(std::optional<Seconds> step);
  // So many steps took this long, without a break between them.
  void add(std::uint64_t steps, Seconds time);
  // By how much steps take longer (1.25 is a quarter longer), once that has lasted.
  [[nodiscard]] std::optional<double> drift() const;

 private:
  double tolerance_;
  std::optional<Seconds> expected_;
  std::uint64_t block_steps_ = 0;
  Seconds block_time_;
  int slower_ = 0;  // blocks in a row
  int faster_ = 0;
  double latest_ = 1;
};

}  // namespace zeus::train
