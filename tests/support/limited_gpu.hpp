// A GPU of a try whose every figure is known: under a limit it draws that many watts, and is as fast as its square root
// says. Compares limits in slices of reported steps, on a clock that tests move. One thread.
#pragma once

#include "base/clock.hpp"
#include "trial/gpus.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zeus::test {

class LimitedGpu final : public trial::Gpus, public trial::Meter {
 public:
  explicit LimitedGpu(VirtualClock& clock) : clock_{clock} {}

  [[nodiscard]] Watts limit() const { return limit_; }
  // The time of work that takes this long under the highest limit.
  [[nodiscard]] Seconds under_limit(Seconds work) const { return work * std::sqrt(highest / limit_); }
  void pass(Seconds time) {
    drawn_ += limit_ * time;
    clock_.sleep_until(clock_.now() + time);
  }
  void refuse(std::string why) { refused_ = std::move(why); }
  void forbid() { may_set_ = false; }
  void lose() { lost_ = true; }
  // Whether the limit is still in force can then not be confirmed.
  void leave_in_doubt(std::string why) { doubt_ = std::move(why); }
  [[nodiscard]] const std::vector<trial::Slices>& comparisons() const { return comparisons_; }
  [[nodiscard]] int signs() const { return signs_; }

  static constexpr Watts highest{250};

  [[nodiscard]] trial::Meter& meter() override { return *this; }
  [[nodiscard]] bool sets_limits() const override { return may_set_; }
  [[nodiscard]] std::optional<Watts> limit_in_force() const override { return limit_; }
  void begin() override { left_alone_.clear(); }
  void hold(Watts limit) override {
    comparing_ = false;
    set(limit);
    chosen_ = left_alone_.empty() ? std::optional{limit} : std::nullopt;
  }
  void compare(const trial::Slices& slices) override {
    comparisons_.push_back(slices);
    compared_ = {};
    chosen_.reset();
    to_settle_ = slices.lengths->settle + slices.lengths->wait;
    measured_ = {};
    boundaries_ = 0;
    from_ = mark();
    measuring_ = true;
    set(slices.limits.back());
    comparing_ = left_alone_.empty();
  }
  void confirm() override { left_alone_ = doubt_.empty() ? left_alone_ : doubt_; }
  void leave() override {
    comparing_ = false;
    chosen_.reset();
    limit_ = highest;
  }
  void begin_epoch() override {}
  void end_epoch() override { measuring_ = false; }
  void progress(std::uint64_t steps) override {
    signs_ += steps == 0 ? 1 : 0;
    if (comparing_ && steps > 0) {
      step(steps);
    }
  }
  [[nodiscard]] bool comparing() const override { return comparing_; }
  [[nodiscard]] PowerProfile compared() const override { return compared_; }
  [[nodiscard]] std::optional<Watts> chosen() const override { return chosen_; }
  [[nodiscard]] std::string left_alone() const override { return left_alone_; }

  void begin(std::string_view window) override { windows_[std::string{window}] = mark(); }
  jobs::Try::Taken end(std::string_view window) override {
    const auto found = windows_.find(window);
    const Mark since = found->second;
    windows_.erase(found);
    const Mark now = mark();
    if (lost_) {
      return {.gpus = {}, .time = now.at - since.at, .unknown = "the GPU is lost"};
    }
    return {.gpus = {{.gpu = "GPU-1", .energy = {.value = now.drawn - since.drawn}}},
            .time = now.at - since.at,
            .unknown = {}};
  }
  jobs::Try::Taken settle(std::string_view window) override { return end(window); }
  void cancel(std::string_view window) noexcept override {
    if (const auto found = windows_.find(window); found != windows_.end()) {
      windows_.erase(found);
    }
  }

 private:
  struct Mark {
    Instant at;
    Joules drawn;
  };

  [[nodiscard]] Mark mark() const { return {.at = clock_.now(), .drawn = drawn_}; }

  void set(Watts limit) {
    if (refused_.empty()) {
      limit_ = limit;
    } else {
      left_alone_ = refused_;
    }
  }

  // A boundary between reported steps.
  void step(std::uint64_t steps) {
    if (to_settle_ > 0) {
      --to_settle_;
      from_ = mark();
      measuring_ = true;
      return;
    }
    if (std::exchange(measuring_, true)) {
      measured_.steps += steps;
      measured_.step_time += clock_.now() - from_.at;
      measured_.step_energy.value += drawn_ - from_.drawn;
      ++boundaries_;
    }
    from_ = mark();
    const trial::Slices& slices = comparisons_.back();
    if (boundaries_ < slices.lengths->measure) {
      return;
    }
    const double part = 1.0 / static_cast<double>(measured_.steps);
    measured_.setting = {.limit = limit_, .clock = {}};
    measured_.step_time *= part;
    measured_.step_energy.value *= part;
    compared_.measurements.push_back(measured_);
    go_on();
  }

  // To the next lower limit; after the lowest, keeps the one of least energy.
  void go_on() {
    const std::vector<Watts>& limits = comparisons_.back().limits;
    const auto at = std::ranges::find(limits, limit_);
    to_settle_ = comparisons_.back().lengths->settle;
    measured_ = {};
    boundaries_ = 0;
    if (at != limits.begin()) {
      set(*std::prev(at));
      return;
    }
    comparing_ = false;
    chosen_ = std::ranges::min(compared_.measurements, {}, [](const PowerMeasurement& one) {
                return one.step_energy.value.value();
              }).setting.limit;
    set(*chosen_);
  }

  VirtualClock& clock_;
  Watts limit_ = highest;
  Joules drawn_;
  std::string refused_;
  std::string doubt_;
  bool may_set_ = true;
  bool lost_ = false;
  std::map<std::string, Mark, std::less<>> windows_;
  std::vector<trial::Slices> comparisons_;
  bool comparing_ = false;
  bool measuring_ = false;
  std::uint32_t to_settle_ = 0;
  std::uint32_t boundaries_ = 0;
  PowerMeasurement measured_;
  Mark from_{};
  PowerProfile compared_;
  std::optional<Watts> chosen_;
  std::string left_alone_;
  int signs_ = 0;
};

}  // namespace zeus::test
