// Notices when steps take longer, or shorter, than the profile states for the setting in force. It compares blocks of
// steps with the profile, and reports only what lasts. Pure: the caller supplies times; one owner, one thread.
#pragma once

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::train {

class DriftWatch {
 public:
  // A `tolerance` of 0 never notices anything.
  explicit DriftWatch(double tolerance) : tolerance_{tolerance} {}

  // The expected time of a step from now on and the half-width of its interval, if it is known; forgets the steps
  // before.
  void expect(std::optional<Seconds> step, Seconds uncertainty = {});
  // This many steps took this time, without a break between them.
  void add(std::uint64_t steps, Seconds time);
  // By what factor steps take longer (1.25: a quarter longer), once that has lasted.
  [[nodiscard]] std::optional<double> drift() const;

 private:
  double tolerance_;
  std::optional<Seconds> expected_;
  Seconds uncertainty_;
  std::uint64_t block_steps_ = 0;
  Seconds block_time_;
  int slower_ = 0;  // blocks in a row
  int faster_ = 0;
  double latest_ = 1;
};

}  // namespace zeus::train
